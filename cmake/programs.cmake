# The program hob, benchmarks and examples. They use the library as any user does: hob is linked
# statically for a fast start; examples see include/ only.
file(GLOB_RECURSE HOB_CLI_SOURCES CONFIGURE_DEPENDS src/cli/*.c)
file(GLOB HOB_BENCH_SOURCES CONFIGURE_DEPENDS bench/*.c)
file(GLOB HOB_BENCH_SUPPORT CONFIGURE_DEPENDS bench/support/*.c)
file(GLOB HOB_FLOOR_CLIENT CONFIGURE_DEPENDS bench/floor/client*.c)
file(GLOB HOB_EXAMPLE_SOURCES CONFIGURE_DEPENDS examples/*/main.c)

# The files of `hob demo`, carried in the program.
set(HOB_DEMO_SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/demo_files.c)
file(GLOB HOB_DEMO_FILES CONFIGURE_DEPENDS examples/demo/*)
set_source_files_properties(${HOB_DEMO_SOURCE} PROPERTIES
    COMPILE_DEFINITIONS HOB_DEMO_DIR="${CMAKE_CURRENT_SOURCE_DIR}/examples/demo"
    OBJECT_DEPENDS "${HOB_DEMO_FILES}")

if(HOB_CLI_SOURCES AND TARGET hob_core)
    add_executable(hob ${HOB_CLI_SOURCES} ${HOB_DEMO_SOURCE})
    target_link_libraries(hob PRIVATE hob_core)
endif()
if(HOB_CLI_SOURCES AND TARGET hob_core_test)
    add_executable(hob-test ${HOB_CLI_SOURCES} ${HOB_DEMO_SOURCE})
    target_link_libraries(hob-test PRIVATE hob_core_test)
endif()

# What `make` and `make bench` build.
add_custom_target(ship)
add_custom_target(bench)
foreach(target hob hob-exec hob_core hob_shared)
    if(TARGET ${target})
        add_dependencies(ship ${target})
    endif()
endforeach()

if(TARGET hob_core)
    # What the benchmarks share: the table, the mock model server, measured runs of programs.
    add_library(bench_support STATIC EXCLUDE_FROM_ALL ${HOB_BENCH_SUPPORT})
    target_include_directories(bench_support PUBLIC bench/support)
    target_link_libraries(bench_support PUBLIC hob_core)
    target_compile_definitions(bench_support PUBLIC
        HOB_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}" HOB_BINARY_DIR="${CMAKE_CURRENT_BINARY_DIR}")

    # The floors: bare programs on the same libraries, and on nothing of hob.
    add_executable(bench-floor-client ${HOB_FLOOR_CLIENT})
    target_include_directories(bench-floor-client SYSTEM PRIVATE ${CURL_INCLUDE_DIRS})
    target_link_libraries(bench-floor-client PRIVATE ${CURL_LINK_LIBRARIES} PkgConfig::SQLITE)
    add_executable(bench-floor-version bench/floor/version.c)
    target_link_libraries(bench-floor-version PRIVATE PkgConfig::SQLITE PkgConfig::UV
        PkgConfig::SODIUM)
    foreach(name client version)
        set_target_properties(bench-floor-${name} PROPERTIES OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bench/floor)
        add_dependencies(bench bench-floor-${name})
    endforeach()

    foreach(source ${HOB_BENCH_SOURCES})
        get_filename_component(name ${source} NAME_WE)
        add_executable(bench-${name} ${source})
        target_link_libraries(bench-${name} PRIVATE bench_support ${CURL_LINK_LIBRARIES})
        set_target_properties(bench-${name} PROPERTIES
            OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bench)
        # A bench that compares with a library only the tests use is built when that is there.
        if(TARGET PkgConfig::JANSSON)
            target_link_libraries(bench-${name} PRIVATE PkgConfig::JANSSON)
            target_compile_definitions(bench-${name} PRIVATE HOB_HAVE_JANSSON)
        endif()
        add_dependencies(bench bench-${name})
        foreach(program hob hob_shared)
            if(TARGET ${program})
                add_dependencies(bench-${name} ${program})
            endif()
        endforeach()
    endforeach()

    foreach(source ${HOB_EXAMPLE_SOURCES})
        get_filename_component(folder ${source} DIRECTORY)
        get_filename_component(name ${folder} NAME)
        file(GLOB parts CONFIGURE_DEPENDS ${folder}/*.c)
        if(name STREQUAL agui_oracle_server AND NOT TARGET PkgConfig::MHD)
            continue()
        endif()
        add_executable(example-${name} ${parts})
        if(name STREQUAL agui_oracle_server) # serves with a library of its own
            target_link_libraries(example-${name} PRIVATE PkgConfig::MHD Threads::Threads)
        endif()
        target_include_directories(example-${name} PRIVATE include)
        target_link_libraries(example-${name} PRIVATE hob_shared)
        add_dependencies(ship example-${name})
        set_target_properties(example-${name} PROPERTIES
            OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/examples)
    endforeach()
endif()
