# What every target of the project is compiled with. No contraction of a*b+c: results must be the
# same bits in every kernel, on every rank, with and without vector instructions.
# No note on the ABI of vectors: they are passed between inlined functions only.
set(TRIBUTARY_COMPILE_OPTIONS -ffp-contract=off -Wall -Wextra -Wno-psabi)

# tributary_target(<target>): C++17, the options above and the chosen sanitizers.
function (tributary_target target)
  target_compile_features("${target}" PRIVATE cxx_std_17)
  target_compile_options("${target}" PRIVATE ${TRIBUTARY_COMPILE_OPTIONS})
  set_target_properties("${target}" PROPERTIES CXX_EXTENSIONS OFF)
  if (TRIBUTARY_SANITIZE)
    target_compile_options("${target}" PRIVATE
      "-fsanitize=${TRIBUTARY_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options("${target}" PRIVATE "-fsanitize=${TRIBUTARY_SANITIZE}")
  endif ()
endfunction ()
