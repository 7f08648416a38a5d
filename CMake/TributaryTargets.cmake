# SPDX-License-Identifier: BSD-3-Clause
# What every target of the project is compiled with. No contraction of a*b+c: results must be the
# same bits in every kernel, on every rank, with and without vector instructions.
# No note on the ABI of vectors: they are passed between inlined functions only.
set(TRIBUTARY_COMPILE_OPTIONS -ffp-contract=off -Wall -Wextra -Wno-psabi)

# Kernels are optimized in every configuration: an unoptimized build would emit the standard library's
# inline functions for a newer processor, and the linker might choose those. With sanitizers -O3 takes
# minutes a file, and -O1 is there already.
set(TRIBUTARY_KERNEL_OPTIMIZATION -O3)
if (TRIBUTARY_SANITIZE)
  set(TRIBUTARY_KERNEL_OPTIMIZATION -O1)
endif ()

# -O1 -g1: checks make code several times larger, which then takes half the time to compile. No check is
# lost, and stacks have their lines.
set(TRIBUTARY_SANITIZE_OPTIONS)
set(TRIBUTARY_SANITIZE_LINK_OPTIONS)
if (TRIBUTARY_SANITIZE)
  set(TRIBUTARY_SANITIZE_LINK_OPTIONS "-fsanitize=${TRIBUTARY_SANITIZE}")
  set(TRIBUTARY_SANITIZE_OPTIONS ${TRIBUTARY_SANITIZE_LINK_OPTIONS}
    -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
endif ()

# tributary_target(<target>): C++17, the options above and the chosen sanitizers.
function (tributary_target target)
  target_compile_features("${target}" PRIVATE cxx_std_17)
  target_compile_options("${target}" PRIVATE ${TRIBUTARY_COMPILE_OPTIONS})
  set_target_properties("${target}" PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options("${target}" PRIVATE ${TRIBUTARY_SANITIZE_OPTIONS})
  target_link_options("${target}" PRIVATE ${TRIBUTARY_SANITIZE_LINK_OPTIONS})
  if (TRIBUTARY_FUZZ)
    target_compile_options("${target}" PRIVATE -fsanitize=fuzzer-no-link)
  endif ()
endfunction ()

# tributary_add_kernels(<target> <path>... AVX2 <option>... [AVX512 <option>...] [OPTIONS <option>...])
#
# Adds <path>Baseline.cpp, and on x86-64 <path>Avx2.cpp and with AVX512 <path>Avx512.cpp, each compiled
# for its instruction set; which one runs is chosen at run time. No kernel contracts products and sums,
# so all of them compute the same bits. -Wno-psabi: vectors are passed between inlined functions only.
function (tributary_add_kernels target)
  cmake_parse_arguments(arg "" "" "AVX2;AVX512;OPTIONS" ${ARGN})
  set(options ${TRIBUTARY_KERNEL_OPTIMIZATION} -Wno-psabi ${arg_OPTIONS})
  set(sets Baseline)
  if (CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    list(APPEND sets Avx2)
    if (arg_AVX512)
      list(APPEND sets Avx512)
    endif ()
  endif ()
  foreach (set IN LISTS sets)
    string(TOUPPER "${set}" key)
    foreach (path IN LISTS arg_UNPARSED_ARGUMENTS)
      target_sources("${target}" PRIVATE "${path}${set}.cpp")
      set_property(SOURCE "${path}${set}.cpp" TARGET_DIRECTORY "${target}" APPEND PROPERTY
        COMPILE_OPTIONS ${arg_${key}} ${options})
    endforeach ()
  endforeach ()
endfunction ()

# tributary_install_headers(<folder> COMPONENT <component>)
#
# Installs the public headers below a folder, and those in detail/ folders that a public header includes,
# directly or through others.
function (tributary_install_headers folder)
  cmake_parse_arguments(arg "" "COMPONENT" "" ${ARGN})
  file(GLOB_RECURSE queue RELATIVE "${folder}" CONFIGURE_DEPENDS "${folder}/Tributary/*.h")
  list(FILTER queue EXCLUDE REGEX "/detail/")
  if (NOT TRIBUTARY_WITH_MPI)
    list(FILTER queue EXCLUDE REGEX "/Mpi[A-Za-z]*[.]h$")
  endif ()
  if (NOT TRIBUTARY_BUILD_MODEL)
    list(FILTER queue EXCLUDE REGEX "^Tributary/Model/")
  endif ()
  set(installed)
  while (queue)
    list(POP_FRONT queue header)
    if (header IN_LIST installed)
      continue ()
    endif ()
    list(APPEND installed "${header}")
    file(STRINGS "${folder}/${header}" includes REGEX "^#include \"Tributary/.*/detail/")
    list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
    list(APPEND queue ${includes})
  endwhile ()
  foreach (header IN LISTS installed)
    get_filename_component(path "${header}" DIRECTORY)
    install(FILES "${folder}/${header}" COMPONENT "${arg_COMPONENT}"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${path}")
  endforeach ()
endfunction ()
