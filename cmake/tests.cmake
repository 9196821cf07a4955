# Tests, found by where they stand:
#
#   tests/unit/AREA/NAME.c   cmocka, linked to the library with kill points     unit/AREA/NAME
#   tests/harness/NAME.c     a program that drives hob-test from outside        harness/NAME
#   tests/cli/NAME.sh        a shell script that drives hob-test from outside   cli/NAME
#   tests/oracle/NAME.sh     a shell script that has a judge of ../shared look   oracle/NAME
#   tests/browser/NAME.sh    a shell script that drives the console page in a browser   browser/NAME
#   tests/gen/NAME.c         prints docs/NAME.md, or compares it                docs/NAME
#   tests/support/*.c        helpers that all of the C tests may use
#
# A test may say more about itself in one line near its top (# instead of /* */ in a script):
#
#     /* ctest: labels=threads,long timeout=300 */
#
# `threads`: also run under TSan (areas in HOB_THREAD_AREAS have it without asking).
# `long`:    not in `make test`, only in `make test-long`.
# `serial`:  nothing else runs beside it.
# `snapshots`: runs a second time, as NAME@snapshots, with a snapshot stored after every run of a session.
# The line is read when CMake configures. Scripts get HOB (the test binary), HOB_BINARY_DIR and
# HOB_SOURCE_DIR in their environment.
set(HOB_THREAD_AREAS loop net store exec session serve)
set(HOB_TEST_TIMEOUT 120)

# Sanitizer reports with file and line without llvm-symbolizer, and no leak goes unseen.
set(HOB_TEST_ENVIRONMENT
    "ASAN_OPTIONS=allow_addr2line=1:detect_stack_use_after_return=1:strict_string_checks=1"
    "UBSAN_OPTIONS=allow_addr2line=1:print_stacktrace=1"
    "TSAN_OPTIONS=allow_addr2line=1:second_deadlock_stack=1:suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tests/support/tsan.supp"
    "HOB=${CMAKE_CURRENT_BINARY_DIR}/hob-test"
    "HOB_BINARY_DIR=${CMAKE_CURRENT_BINARY_DIR}"
    "HOB_SOURCE_DIR=${CMAKE_CURRENT_SOURCE_DIR}")

# hob_register(NAME SOURCE LABELS…): what all tests have in common, and what its line says.
function(hob_register name source)
    set(labels ${ARGN})
    set(timeout ${HOB_TEST_TIMEOUT})
    file(STRINGS ${source} line REGEX "^(/\\*|#|//) ctest:" LIMIT_COUNT 1)
    if(line MATCHES "labels=([a-z0-9,]+)")
        string(REPLACE "," ";" more "${CMAKE_MATCH_1}")
        list(APPEND labels ${more})
    endif()
    if(line MATCHES "timeout=([0-9]+)")
        set(timeout ${CMAKE_MATCH_1})
    endif()
    if(HOB_SANITIZE)
        math(EXPR timeout "3 * ${timeout}")
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout}
        ENVIRONMENT "${HOB_TEST_ENVIRONMENT}")
    if("serial" IN_LIST labels)
        set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
    endif()
    if("snapshots" IN_LIST labels)
        string(REPLACE "/" "-" target ${name})
        add_test(NAME ${name}@snapshots COMMAND ${target})
        set_tests_properties(${name}@snapshots PROPERTIES LABELS "${labels}" TIMEOUT ${timeout}
            ENVIRONMENT "${HOB_TEST_ENVIRONMENT};HOB_TEST_SNAPSHOTS=1")
    endif()
endfunction()

# hob_test_program(TARGET SOURCE FOLDER): a test in C.
function(hob_test_program target source folder)
    add_executable(${target} ${source})
    target_include_directories(${target} PRIVATE tests)
    target_link_libraries(${target} PRIVATE hob_core_test PkgConfig::CMOCKA PkgConfig::JANSSON)
    if(TARGET hob_test_support)
        target_link_libraries(${target} PRIVATE hob_test_support)
    endif()
    target_compile_definitions(${target} PRIVATE ${HOB_TEST_DEFINITIONS})
    get_filename_component(name ${source} NAME_WE)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests/${folder})
    if(TARGET hob-test)
        add_dependencies(${target} hob-test)
    endif()
endfunction()

set(HOB_TEST_DEFINITIONS
    HOB_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}" HOB_BINARY_DIR="${CMAKE_CURRENT_BINARY_DIR}")

if(HOB_WITH_TESTS AND TARGET hob_core_test)
    enable_testing()

    file(GLOB HOB_SUPPORT_SOURCES CONFIGURE_DEPENDS tests/support/*.c)
    if(HOB_SUPPORT_SOURCES)
        add_library(hob_test_support STATIC ${HOB_SUPPORT_SOURCES})
        target_include_directories(hob_test_support PUBLIC tests)
        target_link_libraries(hob_test_support PUBLIC hob_core_test PkgConfig::CMOCKA
            PkgConfig::JANSSON)
        target_compile_definitions(hob_test_support PRIVATE ${HOB_TEST_DEFINITIONS})
    endif()

    file(GLOB sources CONFIGURE_DEPENDS tests/unit/*/*.c)
    foreach(source ${sources})
        string(REGEX MATCH "unit/([^/]+)/([^/]+)\\.c$" matched ${source})
        set(area ${CMAKE_MATCH_1})
        set(name ${CMAKE_MATCH_2})
        hob_test_program(unit-${area}-${name} ${source} unit/${area})
        add_test(NAME unit/${area}/${name} COMMAND unit-${area}-${name})
        set(labels unit ${area})
        if(area IN_LIST HOB_THREAD_AREAS)
            list(APPEND labels threads)
        endif()
        hob_register(unit/${area}/${name} ${source} ${labels})
    endforeach()

    # Pages of docs/ that are made from the sources: the test says whether they still are.
    file(GLOB sources CONFIGURE_DEPENDS tests/gen/*.c)
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        add_executable(gen-${name} ${source})
        target_include_directories(gen-${name} PRIVATE include)
        set_target_properties(gen-${name} PROPERTIES OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests/gen)
        add_test(NAME docs/${name}
            COMMAND gen-${name} ${CMAKE_CURRENT_SOURCE_DIR}/docs/${name}.md)
        hob_register(docs/${name} ${source} docs)
    endforeach()

    if(TARGET hob-test)
        file(GLOB sources CONFIGURE_DEPENDS tests/harness/*.c)
        foreach(source ${sources})
            get_filename_component(name ${source} NAME_WE)
            hob_test_program(harness-${name} ${source} harness)
            add_test(NAME harness/${name} COMMAND harness-${name})
            hob_register(harness/${name} ${source} harness)
        endforeach()

        file(GLOB sources CONFIGURE_DEPENDS tests/cli/*.sh)
        foreach(source ${sources})
            get_filename_component(name ${source} NAME_WE)
            add_test(NAME cli/${name} COMMAND sh ${source})
            set_tests_properties(cli/${name} PROPERTIES SKIP_RETURN_CODE 77)
            hob_register(cli/${name} ${source} cli)
        endforeach()
    endif()

    # Real clients and a real browser, out of ../shared, npm and Debian; skipped where these are not, unless CI=true.
    file(GLOB sources CONFIGURE_DEPENDS tests/oracle/*.sh tests/browser/*.sh)
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        get_filename_component(area ${source} DIRECTORY)
        get_filename_component(area ${area} NAME)
        if(HOB_SHIP)
            add_test(NAME ${area}/${name} COMMAND sh ${source})
            set_tests_properties(${area}/${name} PROPERTIES SKIP_RETURN_CODE 77)
            hob_register(${area}/${name} ${source} ${area})
        endif()
    endforeach()
endif()

# The cross-check with the ADK of another ecosystem: `make conformance`. Its driver skips what it cannot install.
if(HOB_WITH_TESTS AND TARGET hob-test)
    file(GLOB sources CONFIGURE_DEPENDS tests/conformance/adk/hob_*.c)
    hob_test_program(conformance-adk tests/conformance/adk/main.c conformance)
    target_sources(conformance-adk PRIVATE tests/conformance/adk/observe.c ${sources})
    set_target_properties(conformance-adk PROPERTIES OUTPUT_NAME adk)
    set(driver ${CMAKE_CURRENT_SOURCE_DIR}/tests/conformance/adk/run)
    add_test(NAME conformance/adk COMMAND ${driver})
    set_tests_properties(conformance/adk PROPERTIES SKIP_RETURN_CODE 77)
    hob_register(conformance/adk ${driver} conformance)
endif()

if(HOB_FUZZ AND TARGET hob_core_test)
    file(GLOB HOB_FUZZ_SOURCES CONFIGURE_DEPENDS tests/fuzz/*.c)
    foreach(source ${HOB_FUZZ_SOURCES})
        get_filename_component(name ${source} NAME_WE)
        add_executable(fuzz-${name} ${source})
        target_include_directories(fuzz-${name} PRIVATE tests)
        target_compile_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
        target_link_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
        target_link_libraries(fuzz-${name} PRIVATE hob_core_test)
        set_target_properties(fuzz-${name} PROPERTIES OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fuzz)
    endforeach()
endif()
