# SPDX-License-Identifier: BSD-3-Clause
# Makes a mutant from a production source: changes one place and, if FUNCTION is given, the name of
# that function into MUTANT. Fails if either is not found exactly once, so that a mutant cannot
# silently become the original.
# cmake -DSOURCE=<file> -DOUTPUT=<file> -DFROM=<text> -DTO=<text> [-DFUNCTION=<name>] -DMUTANT=<name>
#       -P Mutant.cmake
file(READ "${SOURCE}" text)

# Counts `what` in `text`.
function (expect_once what)
  string(LENGTH "${text}" before)
  string(LENGTH "${what}" length)
  string(REPLACE "${what}" "" without "${text}")
  string(LENGTH "${without}" after)
  math(EXPR count "(${before} - ${after}) / ${length}")
  if (NOT count EQUAL 1)
    message(FATAL_ERROR "${SOURCE} has '${what}' ${count} times: mutant ${MUTANT} needs it once")
  endif ()
endfunction ()

expect_once("${FROM}")
string(REPLACE "${FROM}" "${TO}" text "${text}")
if (FUNCTION)
  expect_once("${FUNCTION}()")
  string(REPLACE "${FUNCTION}()" "${MUTANT}()" text "${text}")
endif ()
file(WRITE "${OUTPUT}" "${text}")
