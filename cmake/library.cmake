# hob-exec, the image of it that the library carries, and libhob in its variants.
file(GLOB HOB_HELPER_SOURCES CONFIGURE_DEPENDS src/exec/helper/*.c)
include(CheckLinkerFlag)
file(GLOB_RECURSE HOB_CORE_SOURCES CONFIGURE_DEPENDS src/*.c)
list(FILTER HOB_CORE_SOURCES EXCLUDE REGEX "/src/(cli|exec/helper)/")

# hob-exec stands alone: small, no libraries but libc, never sanitized (it becomes init of a pid
# namespace and execs at once; a sanitizer's runtime there would change what is tested).
if(HOB_HELPER_SOURCES)
    add_executable(hob-exec ${HOB_HELPER_SOURCES})
    target_include_directories(hob-exec PRIVATE src include)
    target_compile_options(hob-exec PRIVATE -Os -g0 -ffunction-sections -fdata-sections)
    target_link_options(hob-exec PRIVATE -Wl,--gc-sections -s)
    if(HOB_SANITIZE OR HOB_FUZZ)
        target_compile_options(hob-exec PRIVATE -fno-sanitize=all)
        target_link_options(hob-exec PRIVATE -fno-sanitize=all)
    endif()
    set(HOB_EXEC_IMAGE_SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/exec_image.c)
    set_source_files_properties(${HOB_EXEC_IMAGE_SOURCE} PROPERTIES
        OBJECT_DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/hob-exec)
endif()

# Snapshots are of use to the code that made them only (src/session/snapshot.c).
file(GLOB HOB_FOLD_SOURCES CONFIGURE_DEPENDS src/log/*.[ch] src/run/*.[ch] src/model/*.[ch]
    src/session/snapshot.c include/hob/event.h)
set(HOB_FOLD_DIR ${CMAKE_CURRENT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${HOB_FOLD_DIR})
add_custom_command(OUTPUT ${HOB_FOLD_DIR}/fold_id.h
    COMMAND ${CMAKE_COMMAND} "-DOUT=${HOB_FOLD_DIR}/fold_id.h" "-DSOURCES=${HOB_FOLD_SOURCES}"
        -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/fold_id.cmake
    DEPENDS ${HOB_FOLD_SOURCES} cmake/fold_id.cmake VERBATIM)
add_custom_target(fold_id DEPENDS ${HOB_FOLD_DIR}/fold_id.h)
set_source_files_properties(src/session/snapshot.c PROPERTIES
    OBJECT_DEPENDS ${HOB_FOLD_DIR}/fold_id.h)

# The console page (src/serve/console/): one document, carried in the library.
file(GLOB HOB_CONSOLE_FILES CONFIGURE_DEPENDS src/serve/console/*.html src/serve/console/*.css
    src/serve/console/*.js)
set(HOB_CONSOLE_PAGE ${HOB_FOLD_DIR}/console.html)
set(HOB_CONSOLE_SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/console_page.c)
add_custom_command(OUTPUT ${HOB_CONSOLE_PAGE} ${HOB_CONSOLE_PAGE}.gz
    COMMAND ${CMAKE_COMMAND} -DDIR=${CMAKE_CURRENT_SOURCE_DIR}/src/serve/console
        -DOUT=${HOB_CONSOLE_PAGE} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/console_page.cmake
    DEPENDS ${HOB_CONSOLE_FILES} cmake/console_page.cmake VERBATIM)
add_custom_target(console_page DEPENDS ${HOB_CONSOLE_PAGE})
set_source_files_properties(${HOB_CONSOLE_SOURCE} PROPERTIES
    COMPILE_DEFINITIONS HOB_CONSOLE_PAGE_FILE="${HOB_CONSOLE_PAGE}.gz"
    OBJECT_DEPENDS ${HOB_CONSOLE_PAGE}.gz)

# hob_add_objects(NAME): all of the library, compiled once.
# What waits for files, editors and people is made small instead of fast.
set(HOB_SMALL_SOURCES ${HOB_CORE_SOURCES})
list(FILTER HOB_SMALL_SOURCES INCLUDE REGEX "/src/((acp|agent|config|exec|policy|tool)/|agui/(input|plan|shape|thread|tools)|\
model/(failure|registry|resolve|scripted_read)|\
serve/(api|agui|health|hub|listen|log|marks|names|openapi|page|resume|server|tokens)|\
session/(artifact|copy|definitions|export|import|inherit|manage|memory|place|remove|rewind|search|settings|share|skill|stored|\
subagent|telemetry))")
if(CMAKE_BUILD_TYPE STREQUAL RelWithDebInfo)
    set_source_files_properties(${HOB_SMALL_SOURCES} PROPERTIES COMPILE_OPTIONS -Os)
endif()

function(hob_add_objects name)
    add_library(${name} OBJECT ${HOB_CORE_SOURCES} ${HOB_EXEC_IMAGE_SOURCE} ${HOB_CONSOLE_SOURCE})
    add_dependencies(${name} console_page)
    target_include_directories(${name} PUBLIC src include PRIVATE ${HOB_FOLD_DIR})
    add_dependencies(${name} fold_id)
    target_link_libraries(${name} PUBLIC hob_dependencies)
    target_compile_definitions(${name} PRIVATE
        HOB_EXEC_IMAGE_FILE="${CMAKE_CURRENT_BINARY_DIR}/hob-exec")
    if(TARGET hob-exec)
        add_dependencies(${name} hob-exec)
    endif()
endfunction()

if(NOT HOB_CORE_SOURCES)
    message(STATUS "no sources under src/ yet: nothing to build")
    return()
endif()

if(HOB_SHIP)
    hob_add_objects(hob_objects)
    add_library(hob_core STATIC)
    target_link_libraries(hob_core PUBLIC hob_objects)
    set_target_properties(hob_core PROPERTIES OUTPUT_NAME hob)

    add_library(hob_shared SHARED)
    target_link_libraries(hob_shared PRIVATE hob_objects)
    set_target_properties(hob_shared PROPERTIES OUTPUT_NAME hob
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    # Tables of pointers relocate in a few bits each (glibc 2.36 understands it): 50 KB less.
    check_linker_flag(C -Wl,-z,pack-relative-relocs HOB_CAN_PACK_RELOCS)
    if(HOB_CAN_PACK_RELOCS)
        target_link_options(hob_shared PRIVATE -Wl,-z,pack-relative-relocs)
    endif()
endif()

if(HOB_WITH_TESTS OR HOB_FUZZ)
    hob_add_objects(hob_objects_test)
    target_compile_definitions(hob_objects_test PUBLIC HOB_TEST_POINTS)
    add_library(hob_core_test STATIC)
    target_link_libraries(hob_core_test PUBLIC hob_objects_test)
    if(HOB_FUZZ)
        target_compile_options(hob_objects_test PRIVATE -fsanitize=fuzzer-no-link)
    endif()
endif()
