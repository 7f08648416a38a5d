# SPDX-License-Identifier: BSD-3-Clause
# What tests of the installed package share.

# run(<command> <argument>...): fails if the command does.
function (run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE result)
  if (NOT result EQUAL 0)
    list(GET ARGN 0 program)
    message(FATAL_ERROR "${program} failed: ${result}")
  endif ()
endfunction ()

# build_consumer(<source folder> [<cmake argument>...]): installs Core of BUILD_DIR into WORK_DIR/prefix and
# builds a project that finds it there in WORK_DIR/build, with CXX, CXX_FLAGS, GENERATOR and, unless it is
# empty, the compiler launcher LAUNCHER.
function (build_consumer source)
  foreach (component Library Core) # the shared library, if there is one, and the rest
    run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/prefix" --component "${component}")
  endforeach ()
  run("${CMAKE_COMMAND}" -S "${source}" -B "${WORK_DIR}/build" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
    "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix" -DCMAKE_BUILD_TYPE=Release ${ARGN})
  run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
endfunction ()
