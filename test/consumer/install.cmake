# cmake -DBUILD=… -DPREFIX=… -DHEADERS=… -DCUDA=0|1 -P install.cmake: installs the build elsewhere, moves the installation to
# PREFIX, and checks that it has all headers below HEADERS, and GPU kernels if and only if CUDA is 1.
file(REMOVE_RECURSE "${PREFIX}" "${PREFIX}.first")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}.first"
  COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${PREFIX}.first" "${PREFIX}")
file(GLOB_RECURSE have RELATIVE "${PREFIX}/include" "${PREFIX}/include/*")
file(GLOB_RECURSE want RELATIVE "${HEADERS}" "${HEADERS}/*")
if(NOT have STREQUAL want)
  list(REMOVE_ITEM want ${have})
  message(FATAL_ERROR "Not installed: ${want}")
endif()
file(GLOB_RECURSE kernels "${PREFIX}/*/libdice_cuda.a")
if(CUDA AND NOT kernels)
  message(FATAL_ERROR "The GPU kernels are not installed")
elseif(kernels AND NOT CUDA)
  message(FATAL_ERROR "Installed by a build without CUDA: ${kernels}")
endif()
