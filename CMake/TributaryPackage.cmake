# SPDX-License-Identifier: BSD-3-Clause
# Debian packages, made by cpack in a build with the preset package: the plugin where ParaView's programs find it,
# Core's shared library, and its headers.
if (NOT TRIBUTARY_SHARED_CORE OR NOT TRIBUTARY_BUILD_PLUGIN)
  return ()
endif ()

set(library "libtributary${TRIBUTARY_ABI_VERSION}")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tributary)
set(CPACK_PACKAGE_VENDOR "The Tributary authors")
set(CPACK_PACKAGE_CONTACT "The Tributary authors")
set(CPACK_PACKAGING_INSTALL_PREFIX "${CMAKE_INSTALL_PREFIX}")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL Library Core Plugin)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE) # a package a component

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The libraries of the packages themselves.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  "${PROJECT_BINARY_DIR}/Core" "${PROJECT_BINARY_DIR}/${TRIBUTARY_FILTERS_DIR}")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME "${library}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
  "The shared library of Core: asynchronous exchange of messages between blocks of data, and algorithms with it.")

set(CPACK_DEBIAN_CORE_PACKAGE_NAME libtributary-dev)
set(CPACK_DEBIAN_CORE_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_CORE_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_CORE_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION}), libopenmpi-dev")
set(CPACK_COMPONENT_CORE_DESCRIPTION
  "The headers of Core, and the CMake package Tributary with the target Tributary::Core.")

set(CPACK_DEBIAN_PLUGIN_PACKAGE_NAME paraview-tributary)
set(CPACK_DEBIAN_PLUGIN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PLUGIN_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION}), python3-paraview")
set(CPACK_COMPONENT_PLUGIN_DESCRIPTION
  "A plugin with filters for streamlines, paths, flow maps, connected regions, features over time, and fields.
ParaView's plugin manager lists it, and scripts load it by its name. The Python package tributary has the filters'
classes.")
# ParaView's programs read the lists of plugins that paraview.conf in their own folder names. Debian's package has no
# such file, and other plugins may need it: the package adds its line, and removes it.
set(list "/${CMAKE_INSTALL_LIBDIR}/${PARAVIEW_PLUGIN_SUBDIR}/tributary.plugins.xml")
# Python adds byte code to the folder of the package tributary: it is removed before the package.
foreach (script postinst prerm postrm)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/Package/${script}.in" "${PROJECT_BINARY_DIR}/Package/${script}" @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach ()
set(CPACK_DEBIAN_PLUGIN_PACKAGE_CONTROL_EXTRA
  "${PROJECT_BINARY_DIR}/Package/postinst;${PROJECT_BINARY_DIR}/Package/prerm;${PROJECT_BINARY_DIR}/Package/postrm")

foreach (component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER "${component}" key)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" RENAME copyright COMPONENT "${component}"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${key}_PACKAGE_NAME}")
endforeach ()
include(CPack)
