# Tests. A unit test may say more about itself in one line near its top:
#
#     /* ctest: labels=threads,long timeout=300 */
#
# `threads`: also run under TSan (areas in HOB_THREAD_AREAS have it without asking).
# `long`:    not in `make test`, only in `make test-long`.
# ctest reads the line when CMake configures.
set(HOB_THREAD_AREAS loop net store exec session)
set(HOB_TEST_TIMEOUT 120)

# hob_test_traits(SOURCE LABELS_OUT TIMEOUT_OUT): what the line above says.
function(hob_test_traits source labels_out timeout_out)
    file(STRINGS ${source} lines REGEX "^(/\\*|#|//) ctest:" LIMIT_COUNT 1)
    set(labels "")
    set(timeout ${HOB_TEST_TIMEOUT})
    if(lines MATCHES "labels=([a-z0-9,]+)")
        string(REPLACE "," ";" labels "${CMAKE_MATCH_1}")
    endif()
    if(lines MATCHES "timeout=([0-9]+)")
        set(timeout ${CMAKE_MATCH_1})
    endif()
    set(${labels_out} "${labels}" PARENT_SCOPE)
    set(${timeout_out} ${timeout} PARENT_SCOPE)
endfunction()

function(hob_test_program target source)
    add_executable(${target} ${source})
    target_include_directories(${target} PRIVATE tests)
    target_link_libraries(${target} PRIVATE hob_core_test PkgConfig::CMOCKA PkgConfig::JANSSON)
    if(TARGET hob_test_support)
        target_link_libraries(${target} PRIVATE hob_test_support)
    endif()
    target_compile_definitions(${target} PRIVATE
        HOB_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}" HOB_BINARY_DIR="${CMAKE_CURRENT_BINARY_DIR}")
    if(TARGET hob-test)
        add_dependencies(${target} hob-test)
    endif()
endfunction()

if(HOB_WITH_TESTS AND TARGET hob_core_test)
    enable_testing()

    # Helpers shared by tests: tests/support/*.c
    file(GLOB HOB_SUPPORT_SOURCES CONFIGURE_DEPENDS tests/support/*.c)
    if(HOB_SUPPORT_SOURCES)
        add_library(hob_test_support STATIC ${HOB_SUPPORT_SOURCES})
        target_include_directories(hob_test_support PUBLIC tests)
        target_link_libraries(hob_test_support PUBLIC hob_core_test PkgConfig::CMOCKA
            PkgConfig::JANSSON)
        target_compile_definitions(hob_test_support PRIVATE
            HOB_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}"
            HOB_BINARY_DIR="${CMAKE_CURRENT_BINARY_DIR}")
    endif()

    file(GLOB HOB_UNIT_SOURCES CONFIGURE_DEPENDS tests/unit/*/*.c)
    foreach(source ${HOB_UNIT_SOURCES})
        get_filename_component(name ${source} NAME_WE)
        get_filename_component(folder ${source} DIRECTORY)
        get_filename_component(area ${folder} NAME)
        set(target unit-${area}-${name})
        hob_test_program(${target} ${source})
        set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests/unit/${area})
        add_test(NAME unit/${area}/${name} COMMAND ${target})
        hob_test_traits(${source} labels timeout)
        list(APPEND labels unit ${area})
        if(area IN_LIST HOB_THREAD_AREAS)
            list(APPEND labels threads)
        endif()
        set_tests_properties(unit/${area}/${name} PROPERTIES
            LABELS "${labels}" TIMEOUT ${timeout})
    endforeach()
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
