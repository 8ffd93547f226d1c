# SPDX-License-Identifier: BSD-2-Clause
# What `cmake --install` puts where: the library, its header, the description
# of both for pkg-config and for CMake's find_package(), the manual pages, and
# the completions of the shells. The command installs itself (src/cli).
include(CMakePackageConfigHelpers)

install(TARGETS quorlock EXPORT quorlock-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    NAMELINK_COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/quorlock
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# Paths in quorlock.pc are relative to the prefix, unless the packager's are
# absolute. The prefix itself is known only when it comes to installing.
foreach(dir LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
        set(pc_${dir} "${CMAKE_INSTALL_${dir}}")
    else()
        set(pc_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
    endif()
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/packaging/quorlock.pc.in
               ${PROJECT_BINARY_DIR}/quorlock.pc.in @ONLY)
install(CODE "
    file(READ \"${PROJECT_BINARY_DIR}/quorlock.pc.in\" pc)
    string(REPLACE {PREFIX} \"\${CMAKE_INSTALL_PREFIX}\" pc \"\${pc}\")
    file(WRITE \"${PROJECT_BINARY_DIR}/quorlock.pc\" \"\${pc}\")")
install(FILES ${PROJECT_BINARY_DIR}/quorlock.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/quorlock)
configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/packaging/quorlockConfig.cmake.in
    ${PROJECT_BINARY_DIR}/quorlockConfig.cmake
    INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break what was built for another.
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/quorlockConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/quorlockConfig.cmake
              ${PROJECT_BINARY_DIR}/quorlockConfigVersion.cmake
    DESTINATION ${package_dir})
install(EXPORT quorlock-targets NAMESPACE quorlock::
    FILE quorlockTargets.cmake DESTINATION ${package_dir})

foreach(section 1 3)
    file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/doc/*.${section})
    install(FILES ${pages}
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

# Installed under the name by which each shell looks it up.
function(install_completion file directory name)
    if(EXISTS ${PROJECT_SOURCE_DIR}/packaging/completions/${file})
        install(FILES ${PROJECT_SOURCE_DIR}/packaging/completions/${file}
            DESTINATION ${CMAKE_INSTALL_DATADIR}/${directory} RENAME ${name})
    endif()
endfunction()
install_completion(quorlock.bash bash-completion/completions quorlock)
install_completion(_quorlock zsh/site-functions _quorlock)
install_completion(quorlock.fish fish/vendor_completions.d quorlock.fish)
