# SPDX-License-Identifier: BSD-3-Clause
# Doxygen documents the public API of Core without a complaint: classes, functions, types and constants of namespaces
# have a comment, every parameter that a comment names exists, and references resolve. Without a comment of their own may be:
#  - data members, which the comment of their class may describe;
#  - overrides, operators, and constructors and assignments that move;
#  - data(), size(), empty(), begin() and end(), as in the standard library;
#  - specializations of Serial, which the template describes.
# cmake -DROOT=<repository> -DDOXYGEN=<doxygen> -DWORK_DIR=<folder to use> -P Api.cmake
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/Report.cmake")
file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")
file(READ "${ROOT}/Doxyfile" settings)
# All complaints at once, instead of an end at the first.
file(WRITE "${WORK_DIR}/Doxyfile" "${settings}
OUTPUT_DIRECTORY = ${WORK_DIR}
WARN_AS_ERROR = NO
WARN_IF_UNDOCUMENTED = YES
WARN_LOGFILE = ${WORK_DIR}/warnings.txt
GENERATE_HTML = NO
GENERATE_XML = YES
")
execute_process(COMMAND "${DOXYGEN}" "${WORK_DIR}/Doxyfile" WORKING_DIRECTORY "${ROOT}"
  RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
set(errors)
if (NOT result EQUAL 0)
  list(APPEND errors "${DOXYGEN} failed: ${result}\n${said}")
endif ()
file(STRINGS "${WORK_DIR}/warnings.txt" warnings REGEX ".")
set(container "(data|size|empty|begin|end)\\(\\) const \\(function\\)")
set(move "[A-Za-z]+\\([A-Za-z]+ &&[a-z]*\\)[a-z =]* \\(function\\)")
foreach (what
    "Member .* \\(variable\\) of (class|struct) .*" "Member .* override \\(function\\) of .*"
    "Member operator[^ ].* \\(function\\) of .*" "Member ${container} of (class|struct) .*"
    "Member ${move} of (class|struct) .*"
    "Member .* of struct tributary::Serial< .*" "Compound tributary::Serial< .*")
  list(FILTER warnings EXCLUDE REGEX "warning: ${what} is not documented")
endforeach ()
if (warnings)
  list(TRANSFORM warnings REPLACE "^${ROOT}/" "")
  list(APPEND errors ${warnings})
endif ()
file(GLOB pages "${WORK_DIR}/xml/*.xml")
list(LENGTH pages count)
if (count LESS 50)
  list(APPEND errors "only ${count} pages: where are the headers?")
endif ()
report("doxygen documents the public API without a warning")
