# SPDX-License-Identifier: BSD-3-Clause
# Every test that Docs/Guarantees.md names exists: the program among the build's tests and in the
# lists that register tests, the case in the program's source.
#
# A test is an item of a list that begins with its name in code type, as
#   - `TracerTest`: `Tracer.IsTheSameOnSeveralThreads`, `PromiseUnder.Detector`
# with cases of GoogleTest, functions of a Python script, or nothing behind it, and further lines
# indented. No other item begins with code type.
# cmake -DROOT=<repository> -DBUILD=<build tree> -DCTEST=<ctest> -DCOMPLETE=<ON if the build has
#       every test> -P Guarantees.cmake
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/Report.cmake")
file(READ "${ROOT}/Docs/Guarantees.md" text)
string(REPLACE ";" "," text "${text}")
string(REGEX REPLACE "\n  +" " " text "${text}")
string(REGEX MATCHALL "\n- `[^\n]*" items "${text}")

execute_process(COMMAND "${CTEST}" --test-dir "${BUILD}" -N RESULT_VARIABLE result
  OUTPUT_VARIABLE tests)
if (NOT result EQUAL 0)
  message(FATAL_ERROR "${CTEST} -N failed")
endif ()
file(GLOB_RECURSE lists "${ROOT}/Testing/CMakeLists.txt")

set(errors)
set(cases 0)
foreach (item IN LISTS items)
  string(REGEX MATCHALL "`[^`]+`" names "${item}")
  string(REPLACE "`" "" names "${names}")
  list(POP_FRONT names test)
  string(REPLACE "." "[.]" pattern "${test}")

  # Where is it registered, and with which sources?
  set(files)
  set(registered OFF)
  string(REGEX REPLACE "^Example[.]" "" example "${test}")
  if (test MATCHES "^Example[.]" AND EXISTS "${ROOT}/Examples/${example}.cpp")
    set(registered ON)
  endif ()
  string(REGEX REPLACE "(Wide)?Compared$" "" compared "${test}")
  string(REGEX REPLACE "(Written|Resumed)$" "" resumed "${test}")
  string(REGEX REPLACE "^Docs[.]" "" docs "${test}")
  string(REGEX REPLACE "^Attack[.]" "" attack "${test}")
  foreach (list IN LISTS lists)
    file(READ "${list}" commands)
    get_filename_component(folder "${list}" DIRECTORY)
    if (commands MATCHES
        "tributary_add_(core|pvbatch)_test\\(${pattern}[ \n]+(SOURCES|SCRIPT) ([A-Za-z0-9_./ \n]+)")
      set(registered ON)
      string(REGEX MATCHALL "[A-Za-z0-9_./]+[.](cpp|cxx|py)" files "${CMAKE_MATCH_3}")
      set(code)
      foreach (file IN LISTS files)
        file(READ "${folder}/${file}" part)
        string(APPEND code "${part}")
      endforeach ()
    elseif (commands MATCHES "add_test\\(NAME ${pattern}([.][0-9]+ranks)?[ \n]" OR
        (test MATCHES "Compared$" AND commands MATCHES "tributary_compare_runs\\(${compared} ") OR
        (test MATCHES "(Written|Resumed)$" AND commands MATCHES "tributary_write_and_resume\\(${resumed} ") OR
        (test MATCHES "^Docs[.]" AND commands MATCHES "tributary_add_docs_test\\(${docs}[ \n)]") OR
        (test MATCHES "^Attack[.]" AND commands MATCHES "tributary_add_attack\\(${attack}\\)"))
      set(registered ON)
    endif ()
  endforeach ()
  if (NOT registered)
    list(APPEND errors "${test}: no list under Testing registers it")
  elseif (COMPLETE AND NOT tests MATCHES ": ${pattern}([.][0-9]+ranks)?\n")
    list(APPEND errors "${test}: ctest -N does not list it")
  endif ()

  if (names AND NOT files)
    list(APPEND errors "${test}: it has no source in which to look for ${names}")
    continue ()
  endif ()
  foreach (case IN LISTS names)
    math(EXPR cases "${cases} + 1")
    if (files MATCHES "[.]py$")
      set(wanted "\ndef ${case}\\(")
    else ()
      string(REGEX REPLACE "[.]" ", " wanted "${case}")
      set(wanted "\n(TYPED_)?TEST(_P|_F)?\\(${wanted}\\)")
    endif ()
    if (NOT code MATCHES "${wanted}")
      list(APPEND errors "${test}: no ${case} in ${files}")
    endif ()
  endforeach ()
endforeach ()
list(LENGTH items count)
if (count LESS 20 OR cases LESS 50)
  list(APPEND errors "only ${count} tests and ${cases} cases found: has the page another form now?")
endif ()
report("${count} mentions of tests and ${cases} of cases exist")
