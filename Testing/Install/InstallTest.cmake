# SPDX-License-Identifier: BSD-3-Clause
# Installs Core into an empty prefix, builds the example Reachable against it and runs it, and with HEADERS
# compiles each public header by itself.
# cmake -DBUILD_DIR=<build tree> -DWORK_DIR=<folder to use> -DCXX=<compiler> -DGENERATOR=<generator>
#       -DCXX_FLAGS=<flags> -DRUN=<launcher;...> -DHEADERS=<ON|OFF>
#       -P InstallTest.cmake
function (run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE result)
  if (NOT result EQUAL 0)
    list(GET ARGN 0 program)
    message(FATAL_ERROR "${program} failed: ${result}")
  endif ()
endfunction ()

file(REMOVE_RECURSE "${WORK_DIR}")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/prefix" --component Core)
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK_DIR}/build" -G "${GENERATOR}"
  "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
  "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix" -DCMAKE_BUILD_TYPE=Release "-DHEADERS=${HEADERS}")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
run(${RUN} "${WORK_DIR}/build/Reachable")
