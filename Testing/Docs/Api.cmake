# SPDX-License-Identifier: BSD-3-Clause
# Doxygen documents the public API of Core without a complaint: every class has a comment, every parameter that a comment
# names exists, and references resolve. Members may go without a comment of their own if their name says it all, and
# specializations of Serial if that of the template does.
# cmake -DROOT=<repository> -DDOXYGEN=<doxygen> -DWORK_DIR=<folder to use> -P Api.cmake
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/Report.cmake")
file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")
file(READ "${ROOT}/Doxyfile" settings)
# All complaints at once, instead of an end at the first.
file(WRITE "${WORK_DIR}/Doxyfile"
  "${settings}\nOUTPUT_DIRECTORY = ${WORK_DIR}\nWARN_AS_ERROR = NO\nWARN_IF_UNDOCUMENTED = YES\nWARN_LOGFILE = ${WORK_DIR}/warnings.txt\nGENERATE_HTML = NO\nGENERATE_XML = YES\n")
execute_process(COMMAND "${DOXYGEN}" "${WORK_DIR}/Doxyfile" WORKING_DIRECTORY "${ROOT}"
  RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
set(errors)
if (NOT result EQUAL 0)
  list(APPEND errors "${DOXYGEN} failed: ${result}\n${said}")
endif ()
file(STRINGS "${WORK_DIR}/warnings.txt" warnings REGEX ".")
list(FILTER warnings EXCLUDE REGEX
  "warning: (Member .*|Compound tributary::Serial< .*) is not documented")
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
