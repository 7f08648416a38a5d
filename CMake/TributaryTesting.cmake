# SPDX-License-Identifier: BSD-3-Clause
# Functions that register the project's tests. One ctest entry per number of ranks, named
# <Name>.<n>ranks, so that a failure names the case.

# A virtual X server that stays when its last client leaves: the others of a parallel run are coming.
find_program(TRIBUTARY_XVFB_RUN xvfb-run)
set(TRIBUTARY_XVFB "${TRIBUTARY_XVFB_RUN}" -a -s "-screen 0 1600x1200x24 -noreset")
find_program(TRIBUTARY_MPIEXEC NAMES mpirun mpiexec)
# Followed by -n and a number of ranks. Open MPI starts no more ranks than cores without an option that other MPIs lack.
set(TRIBUTARY_MPIRUN "${TRIBUTARY_MPIEXEC}")
if (TRIBUTARY_MPIEXEC)
  execute_process(COMMAND "${TRIBUTARY_MPIEXEC}" --version OUTPUT_VARIABLE version ERROR_QUIET)
  if (version MATCHES "Open MPI")
    list(APPEND TRIBUTARY_MPIRUN --oversubscribe --bind-to none)
  endif ()
endif ()

# Ranks share the cores, also as root in a container; ranks that wait give their core away.
set(TRIBUTARY_MPI_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_btl_vader_single_copy_mechanism=none)

# What MPI keeps until the end comes from modules that are unloaded by then, so that leaks are looked
# for in runs without MPI only.
set(TRIBUTARY_SANITIZER_ENVIRONMENT
  "ASAN_OPTIONS=detect_leaks=0"
  "TSAN_OPTIONS=halt_on_error=1"
  "UBSAN_OPTIONS=print_stacktrace=1")

# ParaView's programs have no sanitizers: they load the runtime that the plugin needs before anything else.
set(TRIBUTARY_PRELOAD)
if (TRIBUTARY_SANITIZE AND TRIBUTARY_BUILD_PLUGIN)
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libasan.so
    OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(TRIBUTARY_PRELOAD "${CMAKE_COMMAND}" -E env "LD_PRELOAD=${runtime}")
endif ()

# In seconds, of any test. It ends those that hang: on a busy machine one may take ten times as
# long as usual.
set(TRIBUTARY_TEST_TIMEOUT 1200)

function (_tributary_register name ranks)
  cmake_parse_arguments(arg "RENDER" "" "COMMAND;ENVIRONMENT;LABELS" ${ARGN})
  set(command ${arg_COMMAND})
  if (TRIBUTARY_WITH_MPI)
    set(command ${TRIBUTARY_MPIRUN} -n "${ranks}" ${command})
  endif ()
  if (arg_RENDER)
    set(command ${TRIBUTARY_XVFB} ${command})
  endif ()
  add_test(NAME "${name}.${ranks}ranks" COMMAND ${command})
  # More than two ranks mostly wait: such a test counts as two processors.
  set(processors "${ranks}")
  if (ranks GREATER 2)
    set(processors 2)
  endif ()
  set_tests_properties("${name}.${ranks}ranks" PROPERTIES
    PROCESSORS "${processors}"
    TIMEOUT "${TRIBUTARY_TEST_TIMEOUT}"
    LABELS "${arg_LABELS}"
    ENVIRONMENT
      "${TRIBUTARY_MPI_ENVIRONMENT};${TRIBUTARY_SANITIZER_ENVIRONMENT};${arg_ENVIRONMENT}")
endfunction ()

# tributary_add_core_test(<Name> SOURCES <file>... [DISTRIBUTED] [RANKS <n>...] [WIDE <n>...] [MPI_ONLY]
#                         [LIBRARIES <target>...] [LABEL <label>] [THREADED <filter>])
#
# A GoogleTest program on Tributary::Core and LIBRARIES, with the main function of
# Testing/Core/Support/Main.cpp (the target TributaryTestMain), run once on each number of ranks. The numbers
# of WIDE get the label Wide: they run with Utilities/test --all only. DISTRIBUTED adds RANKS 1 3 8, except
# those in WIDE, and WIDE 2 4; in a build with sanitizers RANKS 1 and WIDE 2. Without MPI the program runs on
# one rank, or not at all with MPI_ONLY. In a build with sanitizers the larger numbers of ranks are left to
# the ordinary build: above 2 with address sanitizer, above 1 with thread sanitizer (MPI itself is not
# instrumented). With address sanitizer one rank is Loopback's, as <Name>.loopback, and is looked at for
# leaks (but for MPI_ONLY programs, whose one rank is MPI's). With thread sanitizer only programs that start
# threads are built, those with Support/Threads.h, and only their tests of the GoogleTest filter THREADED run
# (all without it): it has nothing to see in the others.
function (tributary_add_core_test name)
  cmake_parse_arguments(arg "DISTRIBUTED;MPI_ONLY" "LABEL;THREADED" "SOURCES;RANKS;WIDE;LIBRARIES" ${ARGN})
  if (arg_DISTRIBUTED AND TRIBUTARY_SANITIZE)
    list(APPEND arg_RANKS 1)
    list(APPEND arg_WIDE 2)
  elseif (arg_DISTRIBUTED)
    foreach (ranks 1 3 8)
      if (NOT ranks IN_LIST arg_WIDE)
        list(APPEND arg_RANKS ${ranks})
      endif ()
    endforeach ()
    list(APPEND arg_WIDE 2 4)
  endif ()
  if (arg_RANKS AND arg_WIDE)
    list(REMOVE_ITEM arg_WIDE ${arg_RANKS})
  endif ()
  if (arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES OR NOT (arg_RANKS OR arg_WIDE))
    message(FATAL_ERROR "tributary_add_core_test(${name}): give SOURCES and DISTRIBUTED or RANKS")
  endif ()
  if (arg_MPI_ONLY AND NOT TRIBUTARY_WITH_MPI)
    return ()
  endif ()
  set(arguments)
  if (TRIBUTARY_SANITIZE MATCHES "thread")
    set(threads)
    foreach (source IN LISTS arg_SOURCES)
      file(STRINGS "${source}" found REGEX "^#include (\"Support/Threads\\.h\"|<(thread|future)>)")
      list(APPEND threads ${found})
    endforeach ()
    if (NOT threads)
      return ()
    endif ()
    if (arg_THREADED)
      set(arguments "--gtest_filter=${arg_THREADED}")
    endif ()
  endif ()
  if (NOT arg_LABEL)
    set(arg_LABEL Core)
  endif ()
  set(most 1000)
  if (NOT TRIBUTARY_WITH_MPI OR TRIBUTARY_SANITIZE MATCHES "thread")
    set(most 1)
  elseif (TRIBUTARY_SANITIZE)
    set(most 2)
  endif ()

  add_executable("${name}" ${arg_SOURCES} $<TARGET_OBJECTS:TributaryTestMain>)
  tributary_target("${name}")
  target_include_directories("${name}" PRIVATE "${PROJECT_SOURCE_DIR}/Testing/Core")
  target_link_libraries("${name}" PRIVATE Tributary::Core GTest::gtest ${arg_LIBRARIES})
  if (TRIBUTARY_SANITIZE MATCHES "address" AND 1 IN_LIST arg_RANKS AND NOT arg_MPI_ONLY)
    list(REMOVE_ITEM arg_RANKS 1)
    add_test(NAME "${name}.loopback" COMMAND "${name}" --loopback)
    set_tests_properties("${name}.loopback" PROPERTIES
      TIMEOUT "${TRIBUTARY_TEST_TIMEOUT}"
      LABELS "${arg_LABEL}"
      ENVIRONMENT "ASAN_OPTIONS=detect_leaks=1;UBSAN_OPTIONS=print_stacktrace=1")
  endif ()
  foreach (ranks IN LISTS arg_RANKS arg_WIDE)
    if (ranks LESS_EQUAL most)
      set(labels "${arg_LABEL}")
      if (ranks IN_LIST arg_WIDE)
        list(APPEND labels Wide)
      endif ()
      _tributary_register("${name}" "${ranks}"
        COMMAND "$<TARGET_FILE:${name}>" ${arguments} LABELS ${labels})
    endif ()
  endforeach ()
endfunction ()

# tributary_outputs(<variable> <run>...): the folders to which runs of pvbatch tests, <Name>.<n>ranks,
# write. Each has its own, so that runs may overlap.
function (tributary_outputs variable)
  set(folders ${ARGN})
  list(TRANSFORM folders PREPEND "${CMAKE_CURRENT_BINARY_DIR}/")
  list(TRANSFORM folders APPEND ".output")
  set(${variable} ${folders} PARENT_SCOPE)
endfunction ()

# tributary_add_pvbatch_test(<Name> SCRIPT <file> RANKS <n>... [WIDE <n>...] [ARGUMENTS <arg>...]
#                            [LABELS <label>...] [RENDER] [SYMMETRIC] [IN_OUTPUT])
#
# A Python script in pvbatch, on numbers of ranks as for tributary_add_core_test; in a build with sanitizers
# on those of RANKS and WIDE up to 2. It finds the plugin's file in the environment variable
# TRIBUTARY_PLUGIN, the repository in TRIBUTARY_SOURCE, a folder that is this run's alone in TRIBUTARY_OUTPUT
# (see tributary_outputs), and Testing/Plugin and Testing/Filters/Support on the module path. RENDER runs it
# under a virtual X server. SYMMETRIC: every rank runs the script, instead of the first one alone. IN_OUTPUT:
# that folder is the current one of all ranks, instead of one that other runs have, too.
function (tributary_add_pvbatch_test name)
  cmake_parse_arguments(arg "RENDER;SYMMETRIC;IN_OUTPUT" "SCRIPT" "RANKS;WIDE;ARGUMENTS;LABELS" ${ARGN})
  if (arg_UNPARSED_ARGUMENTS OR NOT arg_SCRIPT OR NOT (arg_RANKS OR arg_WIDE))
    message(FATAL_ERROR "tributary_add_pvbatch_test(${name}): give SCRIPT and RANKS")
  endif ()
  if (NOT TRIBUTARY_BUILD_PLUGIN)
    return ()
  endif ()
  set(render)
  if (arg_RENDER)
    set(render RENDER)
    if (NOT TRIBUTARY_XVFB_RUN)
      message(FATAL_ERROR "${name} renders and needs xvfb-run (Debian: xvfb xauth)")
    endif ()
  endif ()
  set(symmetric)
  if (arg_SYMMETRIC)
    set(symmetric --sym)
  endif ()
  get_filename_component(script "${arg_SCRIPT}" ABSOLUTE)
  # Modules that scripts of other rooms import.
  set(tests "${PROJECT_SOURCE_DIR}/Testing/Filters")
  if (TRIBUTARY_SANITIZE)
    list(APPEND arg_RANKS ${arg_WIDE})
    list(FILTER arg_RANKS INCLUDE REGEX "^[12]$")
    set(arg_WIDE)
  endif ()
  foreach (ranks IN LISTS arg_RANKS arg_WIDE)
    set(labels Plugin ${arg_LABELS})
    if (ranks IN_LIST arg_WIDE)
      list(APPEND labels Wide)
    endif ()
    tributary_outputs(output "${name}.${ranks}ranks")
    file(MAKE_DIRECTORY "${output}")
    _tributary_register("${name}" "${ranks}" ${render}
      COMMAND ${TRIBUTARY_PRELOAD} "${TRIBUTARY_PVBATCH}" ${symmetric} "${script}" ${arg_ARGUMENTS}
      LABELS ${labels}
      ENVIRONMENT
        "TRIBUTARY_PLUGIN=$<TARGET_FILE:Tributary>"
        "TRIBUTARY_SOURCE=${PROJECT_SOURCE_DIR}"
        "TRIBUTARY_OUTPUT=${output}"
        "PYTHONPATH=${PROJECT_SOURCE_DIR}/Testing/Plugin:${tests}/Support:${tests}/Lines:${tests}/Features:${tests}/FlowMap:${PROJECT_SOURCE_DIR}/Testing/Faults")
    if (arg_IN_OUTPUT)
      set_tests_properties("${name}.${ranks}ranks" PROPERTIES WORKING_DIRECTORY "${output}")
    endif ()
  endforeach ()
endfunction ()
