# SPDX-License-Identifier: BSD-3-Clause
# The project of a library user, as Docs/Guide/Library.md prints it: its program is linked by its lines for CMake with an
# installed Core, and run.
# cmake -DROOT=<repository> -DBUILD_DIR=<build tree> -DWORK_DIR=<folder to use> -DCXX=<compiler>
#       -DCXX_FLAGS=<flags> -DLAUNCHER=<compiler launcher> -DGENERATOR=<generator> -DRUN=<launcher;...>
#       -P Library.cmake
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/../Install/Consumer.cmake")

# snippet_of(<page> <language> <file>): writes the page's one snippet of a language to a file.
function (snippet_of page language file)
  file(READ "${ROOT}/${page}" text)
  string(FIND "${text}" "\n```${language}\n" begin)
  if (begin EQUAL -1)
    message(FATAL_ERROR "${page} has no snippet of ${language}")
  endif ()
  string(LENGTH "\n```${language}\n" head)
  math(EXPR begin "${begin} + ${head}")
  string(SUBSTRING "${text}" ${begin} -1 rest)
  string(FIND "${rest}" "\n```" end)
  string(SUBSTRING "${rest}" 0 ${end} snippet)
  string(FIND "${rest}" "\n```${language}\n" another)
  if (NOT another EQUAL -1)
    message(FATAL_ERROR "${page} has several snippets of ${language}")
  endif ()
  file(WRITE "${file}" "${snippet}\n")
endfunction ()

file(REMOVE_RECURSE "${WORK_DIR}")
snippet_of(Docs/Guide/Library.md cmake "${WORK_DIR}/source/link.cmake")
file(WRITE "${WORK_DIR}/source/CMakeLists.txt" "cmake_minimum_required(VERSION 3.22)
project(Yours LANGUAGES CXX)
add_executable(yours yours.cpp)
include(link.cmake)
")
snippet_of(Docs/Guide/Library.md cpp "${WORK_DIR}/source/yours.cpp")
build_consumer("${WORK_DIR}/source")
run(${RUN} "${WORK_DIR}/build/yours")
