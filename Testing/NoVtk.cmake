# SPDX-License-Identifier: BSD-3-Clause
# Core stands without VTK: no file of it includes a VTK header, and all headers together compile with
# nothing but Core's folder on the include path, and MPI's for those named after it. (Two of one name,
# that programs would link silently, with the wrong one's functions, would not.) Each header in
# detail/ compiles by itself, too, with Utilities/test --all; those that are the first include of their own source
# file have done so when Core was built. InstalledPackage compiles the public ones alone.
# cmake -DCORE=<Core's folder> -DCXX=<compiler> -DLAUNCHER=<compiler launcher, a cache of compilations>
#       -DMPI_INCLUDES=<folders> -DWITH_MPI=<ON|OFF> -DWORK_DIR=<folder to use> -P NoVtk.cmake
file(GLOB_RECURSE files "${CORE}/*.h" "${CORE}/*.cpp")
if (NOT files)
  message(FATAL_ERROR "no files in ${CORE}")
endif ()
set(bad 0)
foreach (file IN LISTS files)
  file(STRINGS "${file}" includes REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"](vtk|paraview)")
  if (includes)
    message("${file} includes VTK: ${includes}")
    math(EXPR bad "${bad} + 1")
  endif ()
endforeach ()

# Vector types in a header are the kernels' own business: no note about their ABI.
set(flags -std=c++17 -Wall -Wextra -Werror -Wno-psabi -c)
set(mpi_flags -DTRIBUTARY_WITH_MPI)
foreach (folder IN LISTS MPI_INCLUDES)
  list(APPEND mpi_flags -isystem "${folder}")
endforeach ()
file(GLOB_RECURSE headers RELATIVE "${CORE}" "${CORE}/*.h")
file(MAKE_DIRECTORY "${WORK_DIR}")
set(all)
set(compiled 0)

function (compile what text)  # and flags
  file(WRITE "${WORK_DIR}/headers.cpp" "${text}")
  execute_process(COMMAND ${LAUNCHER} "${CXX}" ${flags} ${ARGN} "-I${CORE}"
    "${WORK_DIR}/headers.cpp" -o "${WORK_DIR}/headers.o"
    RESULT_VARIABLE result ERROR_VARIABLE errors)
  if (NOT result EQUAL 0)
    message("${what}:\n${errors}")
    math(EXPR bad "${bad} + 1")
    set(bad "${bad}" PARENT_SCOPE)
  endif ()
endfunction ()

set(plain)
foreach (header IN LISTS headers)
  set(more)
  set(text "#include \"${header}\"\n")
  if (header MATCHES "(^|/)Mpi")
    if (NOT WITH_MPI)
      continue ()
    endif ()
    set(more ${mpi_flags})
  else ()
    string(APPEND plain "${text}")
  endif ()
  string(APPEND all "${text}")
  if (NOT header MATCHES "/detail/" OR NOT DEFINED ENV{TRIBUTARY_TEST_ALL})
    continue ()  # InstalledPackage compiles public headers alone
  endif ()
  string(REGEX REPLACE "\\.h$" ".cpp" source "${CORE}/${header}")
  if (EXISTS "${source}")
    file(STRINGS "${source}" first REGEX "^[ \t]*#[ \t]*include" LIMIT_COUNT 1)
    if (first STREQUAL "#include \"${header}\"")
      continue ()
    endif ()
  endif ()
  math(EXPR compiled "${compiled} + 1")
  compile("Core/${header} does not compile by itself" "${text}" ${more})
endforeach ()
compile("Core's headers do not compile together without MPI" "${plain}")
if (WITH_MPI)
  compile("Core's headers do not compile together" "${all}" ${mpi_flags})
endif ()
list(LENGTH headers count)
if (bad)
  message(FATAL_ERROR "${bad} complaints about Core's files")
endif ()
message("${count} headers compile together, ${compiled} of detail/ by themselves, "
  "no file includes VTK")
