# Libraries, all found by pkg-config. libcurl is loaded when the first request is made, so only its
# headers are needed here.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(UV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(CURL REQUIRED libcurl)
pkg_check_modules(ZLIB REQUIRED zlib) # its header: loaded when the first answer is compressed
# For one of the examples only, which is built when it is there.
pkg_check_modules(MHD QUIET IMPORTED_TARGET libmicrohttpd)

add_library(hob_dependencies INTERFACE)
target_link_libraries(hob_dependencies INTERFACE
    PkgConfig::UV PkgConfig::SQLITE PkgConfig::SODIUM PkgConfig::YAML Threads::Threads ${CMAKE_DL_LIBS} m)
target_include_directories(hob_dependencies SYSTEM INTERFACE ${CURL_INCLUDE_DIRS} ${ZLIB_INCLUDE_DIRS})

if(HOB_TESTS STREQUAL "AUTO")
    pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka)
    pkg_check_modules(JANSSON QUIET IMPORTED_TARGET jansson)
    if(CMOCKA_FOUND AND JANSSON_FOUND)
        set(HOB_WITH_TESTS ON)
    else()
        message(STATUS "cmocka or jansson not found: tests are not built (scripts/setup test)")
        set(HOB_WITH_TESTS OFF)
    endif()
elseif(HOB_TESTS)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
    pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
    set(HOB_WITH_TESTS ON)
else()
    set(HOB_WITH_TESTS OFF)
endif()
