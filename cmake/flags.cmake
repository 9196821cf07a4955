# Compiler and linker flags, for gcc and clang alike.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
# Asserts stay in: a broken invariant must stop, not go on.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")

add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Werror -fno-strict-aliasing)
add_compile_definitions(_GNU_SOURCE _FILE_OFFSET_BITS=64)

add_compile_options(-fstack-protector-strong -fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|i.86")
    add_compile_options(-fcf-protection)
endif()
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed)

if(HOB_SANITIZE)
    # The interceptors of the sanitizers and _FORTIFY_SOURCE get in each other's way.
    add_compile_options(-fsanitize=${HOB_SANITIZE} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${HOB_SANITIZE})
elseif(CMAKE_BUILD_TYPE STREQUAL RelWithDebInfo)
    add_compile_options(-U_FORTIFY_SOURCE)
    add_compile_definitions(_FORTIFY_SOURCE=3)
endif()
