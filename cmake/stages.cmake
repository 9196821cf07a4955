# What `make test` runs besides the tests of this build, as ctest tests, so that one closing line
# speaks for all of it:
#
#   check/…      the rules of the house, read from the sources and the binaries   label lint
#   stage/…      the same sources with clang, ASan+UBSan, TSan and libFuzzer      label stage
#   fuzz/NAME    each fuzz target for HOB_FUZZ_SECONDS (20)                       label stage
#
# A stage is a build of its own with two compilers at a time, so it occupies both cores
# (PROCESSORS) and nothing runs beside it.
if(NOT HOB_STAGES OR NOT HOB_WITH_TESTS OR NOT TARGET hob_shared)
    return()
endif()

set(checks ${CMAKE_CURRENT_SOURCE_DIR}/tests/checks)

# hob_add_check(NAME ARGS…): tests/checks/NAME, run in the source folder.
function(hob_add_check name)
    add_test(NAME check/${name} COMMAND ${checks}/${name} ${ARGN}
             WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    set_tests_properties(check/${name} PROPERTIES LABELS lint TIMEOUT 120)
endfunction()

hob_add_check(includes)
hob_add_check(pure)
hob_add_check(banned)
hob_add_check(shape)
hob_add_check(words)
hob_add_check(coming-from)
hob_add_check(headers)
hob_add_check(format)
hob_add_check(setup)
hob_add_check(selftest)
hob_add_check(symbols ${CMAKE_CURRENT_BINARY_DIR})
hob_add_check(hardening ${CMAKE_CURRENT_BINARY_DIR})
hob_add_check(install ${CMAKE_CURRENT_BINARY_DIR})

add_test(NAME docs/run COMMAND scripts/run-docs ${CMAKE_CURRENT_BINARY_DIR}
         WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
set_tests_properties(docs/run PROPERTIES LABELS docs TIMEOUT 300)

function(hob_add_stage name)
    add_test(NAME stage/${name} COMMAND ${checks}/stage ${ARGN}
             WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    set_tests_properties(stage/${name} PROPERTIES LABELS stage PROCESSORS 2 TIMEOUT 1500)
endfunction()

hob_add_stage(clang clang)
hob_add_stage(asan asan unit)
hob_add_stage(tsan tsan threads)

file(GLOB HOB_FUZZ_NAMES CONFIGURE_DEPENDS tests/fuzz/*.c)
if(HOB_FUZZ_NAMES)
    hob_add_stage(fuzz fuzz)
    set_tests_properties(stage/fuzz PROPERTIES FIXTURES_SETUP fuzz_build)
endif()
foreach(source ${HOB_FUZZ_NAMES})
    get_filename_component(name ${source} NAME_WE)
    add_test(NAME fuzz/${name} COMMAND ${checks}/fuzz ${name}
             WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    set_tests_properties(fuzz/${name} PROPERTIES LABELS stage TIMEOUT 3600
        FIXTURES_REQUIRED fuzz_build)
endforeach()

# Last of all, since it reads what the others printed.
get_property(all_tests DIRECTORY PROPERTY TESTS)
hob_add_check(cases ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(check/cases PROPERTIES DEPENDS "${all_tests}")
