# Makes a mutant of a detector from the production source: changes one place, and the name of the
# function that makes the detector. Fails if either is not found exactly once, so that a mutant
# cannot silently become the original.
# cmake -DSOURCE=<file> -DOUTPUT=<file> -DFROM=<text> -DTO=<text> -DFUNCTION=<name> -DMUTANT=<name>
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
expect_once("${FUNCTION}()")
string(REPLACE "${FROM}" "${TO}" text "${text}")
string(REPLACE "${FUNCTION}()" "${MUTANT}()" text "${text}")
file(WRITE "${OUTPUT}" "${text}")
