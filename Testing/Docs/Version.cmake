# SPDX-License-Identifier: BSD-3-Clause
# The version is set in the top CMakeLists.txt. CITATION.cff, Doxyfile and the newest entry of CHANGELOG.md name the
# same.
# cmake -DROOT=<repository> -P Version.cmake
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/Report.cmake")
set(errors)

# version_in(<file> <pattern> <variable>): what the pattern's group matches first.
function (version_in file pattern variable)
  file(READ "${ROOT}/${file}" text)
  if (text MATCHES "${pattern}")
    set("${variable}" "${CMAKE_MATCH_1}" PARENT_SCOPE)
  else ()
    set("${variable}" "none" PARENT_SCOPE)
  endif ()
endfunction ()

version_in(CMakeLists.txt "project\\(Tributary[ \n]+VERSION ([0-9]+\\.[0-9]+\\.[0-9]+)[ \n)]" version)
version_in(CITATION.cff "\nversion: ([^\n]+)\n" cited)
version_in(Doxyfile "\nPROJECT_NUMBER +=[ ]+([^\n]+)\n" documented)
version_in(CHANGELOG.md "\n## \\[([0-9.]+)\\]" changed)
if (version STREQUAL "none")
  list(APPEND errors "CMakeLists.txt sets no version")
endif ()
if (NOT cited STREQUAL version)
  list(APPEND errors "CITATION.cff names version ${cited}, CMakeLists.txt ${version}")
endif ()
if (NOT documented STREQUAL version)
  list(APPEND errors "Doxyfile names version ${documented}, CMakeLists.txt ${version}")
endif ()
if (NOT changed STREQUAL version)
  list(APPEND errors "CHANGELOG.md begins with version ${changed}, CMakeLists.txt with ${version}")
endif ()
report("CITATION.cff, Doxyfile and CHANGELOG.md name version ${version}")
