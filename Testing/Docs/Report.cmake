# SPDX-License-Identifier: BSD-3-Clause
# report(<sentence on what is well>): ends a test of the documentation. What is in the list `errors`
# fails it.
macro (report well)
  if (errors)
    list(JOIN errors "\n" errors)
    message(FATAL_ERROR "${errors}")
  endif ()
  message("${well}")
endmacro ()
