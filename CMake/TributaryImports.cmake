# SPDX-License-Identifier: BSD-3-Clause
# Include this before find_package(ParaView) or find_package(VTK).
#
# Debian 13 renames the Python modules of ParaView and VTK from vtkCommonCore.so to
# vtkCommonCore.cpython-313-x86_64-linux-gnu.so, but not in their CMake packages: find_package() stops because files of
# the targets VTK::vtkCommonCorePython and others do not exist. Nothing links these targets. Since CMake 3.28 the files
# of a target are not checked if it has an xcframework folder, so any existing folder is named before the check.
include_guard(GLOBAL)
macro (tributary_import_python_module variable access value)
  if ("${value}" MATCHES "([^; ]+Python) ?$") # the target that was appended last
    set("_cmake_import_check_xcframework_for_${CMAKE_MATCH_1}" "/")
  endif ()
endmacro ()
variable_watch(_cmake_import_check_targets tributary_import_python_module)

# Where ParaView installs its VTK, which will do if there is no other. For find_package(VTK ... PATH_SUFFIXES).
set(TRIBUTARY_VTK_SUFFIXES)
foreach (version IN ITEMS 5.13 5.11)
  list(APPEND TRIBUTARY_VTK_SUFFIXES "lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/paraview-${version}/vtk")
endforeach ()
