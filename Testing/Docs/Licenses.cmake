# SPDX-License-Identifier: BSD-3-Clause
# Every file that can have a comment names its license in its first lines. JSON and pictures have no comments; pages and
# data sets are under the repository's LICENSE.
# cmake -DROOT=<repository> -P Licenses.cmake
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/Report.cmake")
set(errors)

# Build trees, hidden folders and what tools leave behind are not the repository's.
file(GLOB files LIST_DIRECTORIES OFF "${ROOT}/[!.]*" "${ROOT}/.clang-*" "${ROOT}/.ci/*")
file(GLOB entries "${ROOT}/[!.]*")
foreach (entry IN LISTS entries)
  if (IS_DIRECTORY "${entry}" AND NOT entry MATCHES "/build[^/]*$")
    file(GLOB_RECURSE inside "${entry}/*")
    list(APPEND files ${inside})
  endif ()
endforeach ()
list(FILTER files EXCLUDE REGEX "/(LICENSE|[^/]+[.](md|json|png|npz|vtm|vtp|vtu|pvtu|pyc))$")
list(FILTER files EXCLUDE REGEX "/Testing/Fuzz/Corpus/")

foreach (file IN LISTS files)
  file(READ "${file}" beginning LIMIT 400)
  if (NOT beginning MATCHES "SPDX-License-Identifier: BSD-3-Clause")
    file(RELATIVE_PATH name "${ROOT}" "${file}")
    list(APPEND errors "${name} does not name its license in its first lines")
  endif ()
endforeach ()
foreach (kind xml svg)
  set(some ${files})
  list(FILTER some INCLUDE REGEX "[.]${kind}$")
  if (NOT some)
    list(APPEND errors "no .${kind} file found: where are they?")
  endif ()
endforeach ()
list(LENGTH files count)
if (count LESS 500)
  list(APPEND errors "only ${count} files found: where is the code?")
endif ()
report("${count} files name their license")
