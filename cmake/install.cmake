# The installed tree: bin/hob, lib/libhob.{so,a}, include/hob, lib/pkgconfig/hob.pc,
# libexec/hob/hob-exec and the pages that messages name, share/doc/hob. It may be moved as a whole: nothing in it names the prefix. lib is plain
# lib, never a multiarch folder.
if(NOT TARGET hob_shared)
    return()
endif()

install(TARGETS hob_shared hob_core LIBRARY DESTINATION lib ARCHIVE DESTINATION lib)
install(DIRECTORY include/hob DESTINATION include FILES_MATCHING PATTERN "*.h")
install(DIRECTORY docs/ DESTINATION share/doc/hob FILES_MATCHING PATTERN "*.md")
configure_file(cmake/hob.pc.in hob.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hob.pc DESTINATION lib/pkgconfig)
if(TARGET hob)
    install(TARGETS hob RUNTIME DESTINATION bin)
endif()
if(TARGET hob-exec)
    install(TARGETS hob-exec RUNTIME DESTINATION libexec/hob)
endif()
