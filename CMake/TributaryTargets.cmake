# What every target of the project is compiled with. No contraction of a*b+c: results must be the
# same bits in every kernel, on every rank, with and without vector instructions.
# No note on the ABI of vectors: they are passed between inlined functions only.
set(TRIBUTARY_COMPILE_OPTIONS -ffp-contract=off -Wall -Wextra -Wno-psabi)

# Kernels are optimised in every configuration: an unoptimised build would emit the standard library's
# inline functions for a newer processor, and the linker might choose those. With sanitizers -O3 takes
# minutes a file, and -O1 is there already.
set(TRIBUTARY_KERNEL_OPTIMISATION -O3)
if (TRIBUTARY_SANITIZE)
  set(TRIBUTARY_KERNEL_OPTIMISATION -O1)
endif ()

# tributary_target(<target>): C++17, the options above and the chosen sanitizers.
function (tributary_target target)
  target_compile_features("${target}" PRIVATE cxx_std_17)
  target_compile_options("${target}" PRIVATE ${TRIBUTARY_COMPILE_OPTIONS})
  set_target_properties("${target}" PROPERTIES CXX_EXTENSIONS OFF)
  if (TRIBUTARY_SANITIZE)
    # -O1 -g1: checks make code several times larger, which then takes half the time to compile. No
    # check is lost, and stacks have their lines.
    target_compile_options("${target}" PRIVATE "-fsanitize=${TRIBUTARY_SANITIZE}"
      -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
    target_link_options("${target}" PRIVATE "-fsanitize=${TRIBUTARY_SANITIZE}")
  endif ()
endfunction ()
