# SPDX-License-Identifier: BSD-3-Clause
# Installs Core into an empty prefix, builds the example Reachable against it and runs it, and with HEADERS
# compiles each public header by itself.
# cmake -DBUILD_DIR=<build tree> -DWORK_DIR=<folder to use> -DCXX=<compiler> -DGENERATOR=<generator>
#       -DCXX_FLAGS=<flags> -DLAUNCHER=<compiler launcher> -DRUN=<launcher;...> -DHEADERS=<ON|OFF>
#       -DVERSION=<of the project> -P InstallTest.cmake
include("${CMAKE_CURRENT_LIST_DIR}/Consumer.cmake")

file(REMOVE_RECURSE "${WORK_DIR}")
build_consumer("${CMAKE_CURRENT_LIST_DIR}" "-DVERSION=${VERSION}" "-DHEADERS=${HEADERS}")
run(${RUN} "${WORK_DIR}/build/Reachable")
