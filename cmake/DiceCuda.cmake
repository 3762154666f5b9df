# The target dice::cudnn, GPU ranks, and dice::cudnn_headers, the same for programs of dice::header_only: included by
# DiceTargets.cmake where DICE_CUDA is AUTO or ON.  Needs the CUDA toolkit (11.4 or newer) with cuBLAS, and cuDNN (8.6 or
# newer).
#
# Two static libraries: libdice_cuda.a, dice's own CUDA kernels, which nvcc compiles for all GPUs of DICE_CUDA_ARCHITECTURES,
# and libdice_gpu.a, the rest of the backend, compiled like dice's library. A dice installed from a build with CUDA has both:
# then programs need no nvcc.
#
# Requires an earlier find_package(CUDAToolkit). Sets dice_has_cuda to what was found, or to what is missing.
set(DICE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}" CACHE FILEPATH "C++ compiler that nvcc calls: CUDA 11 takes g++ up to version 11")
mark_as_advanced(DICE_CUDA_HOST_COMPILER)
set(DICE_CUDA_ARCHITECTURES all CACHE STRING "GPUs to build dice's CUDA kernels for: all that nvcc knows, ends, or a list such as 75;87")
set(dice_cuda_sources elements halves sums windows)

if(NOT CUDAToolkit_FOUND OR NOT TARGET CUDA::cudart_static OR NOT TARGET CUDA::cublasLt)
  set(dice_has_cuda "no CUDA toolkit with cuBLAS (11.4 or newer; CUDAToolkit_ROOT says where it is)")
  return()
endif()
find_path(DICE_CUDNN_INCLUDE_DIR cudnn_backend.h HINTS ${CUDAToolkit_INCLUDE_DIRS} DOC "folder of cuDNN's headers")
find_library(DICE_CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 libcudnn.so.8
  HINTS "${DICE_CUDNN_INCLUDE_DIR}/../lib" ${CUDAToolkit_LIBRARY_DIR} "${CUDAToolkit_LIBRARY_ROOT}" PATH_SUFFIXES lib lib64
  DOC "cuDNN's library")
mark_as_advanced(DICE_CUDNN_INCLUDE_DIR DICE_CUDNN_LIBRARY)
if(NOT DICE_CUDNN_INCLUDE_DIR OR NOT DICE_CUDNN_LIBRARY)
  set(dice_has_cuda "no cuDNN beside CUDA ${CUDAToolkit_VERSION} (DICE_CUDNN_INCLUDE_DIR and DICE_CUDNN_LIBRARY say where it is)")
  return()
endif()
file(STRINGS "${DICE_CUDNN_INCLUDE_DIR}/cudnn_version.h" numbers REGEX "^#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) ")
list(TRANSFORM numbers REPLACE "[^0-9]+" "")
list(JOIN numbers "." dice_cudnn_version)
if(dice_cudnn_version VERSION_LESS 8.6)
  set(dice_has_cuda "cuDNN ${dice_cudnn_version} is too old: 8.6 or newer is needed")
  return()
endif()

if(DICE_IS_INSTALLED AND EXISTS "${DICE_CUDA_KERNELS}" AND DICE_CUDA_ARCHITECTURES STREQUAL "all" AND
   DICE_CUDA_KERNELS_FOR STREQUAL "${CMAKE_SYSTEM_PROCESSOR} ${CUDAToolkit_VERSION_MAJOR}")
  set(dice_cuda_library "${DICE_CUDA_KERNELS}")
else()
  find_program(DICE_NVCC nvcc HINTS "${CUDAToolkit_BIN_DIR}" DOC "CUDA's compiler")
  mark_as_advanced(DICE_NVCC)
  if(NOT DICE_NVCC)
    set(dice_has_cuda "no nvcc beside CUDA ${CUDAToolkit_VERSION} (DICE_NVCC says where it is)")
    return()
  endif()
  set(numbers "${DICE_CUDA_ARCHITECTURES}")
  if(numbers MATCHES "^(all|ends)$")
    execute_process(COMMAND "${DICE_NVCC}" --list-gpu-arch RESULT_VARIABLE failed OUTPUT_VARIABLE numbers OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed)
      set(dice_has_cuda "no nvcc that works: '${DICE_NVCC} --list-gpu-arch' fails")
      return()
    endif()
    string(REPLACE "\n" ";" numbers "${numbers}")
    list(TRANSFORM numbers REPLACE "compute_" "")
  endif()
  list(SORT numbers COMPARE NATURAL)
  set(code "")
  if(DICE_CUDA_ARCHITECTURES STREQUAL "ends")
    # The oldest and the newest compile in a quarter of the time. PTX of the oldest, which the driver compiles for all others.
    list(GET numbers 0 oldest)
    list(GET numbers -1 newest)
    set(numbers ${oldest} ${newest})
    list(REMOVE_DUPLICATES numbers)
    list(APPEND code -gencode arch=compute_${oldest},code=compute_${oldest})
  endif()
  # Machine code for each, and PTX for the newest, which the driver compiles for future GPUs.
  foreach(number IN LISTS numbers)
    list(APPEND code -gencode arch=compute_${number},code=sm_${number})
  endforeach()
  list(GET numbers -1 newest)
  string(REGEX REPLACE "[^0-9]" "" newest "${newest}")  # code for 90a runs on no other GPU
  list(APPEND code -gencode arch=compute_${newest},code=compute_${newest})
  list(JOIN numbers ", " built_for)

  set(folder "${CMAKE_BINARY_DIR}/dice_cuda")
  file(MAKE_DIRECTORY "${folder}")
  set(objects "")
  set(kernels "${DICE_INCLUDE_DIR}/dice/kernels/cudnn/cuda")
  set(shared activation antialias arithmetic sampling)  # what the kernels share with the host
  list(TRANSFORM shared REPLACE "(.+)" "${DICE_INCLUDE_DIR}/dice/graph/\\1.hpp")
  foreach(source IN LISTS dice_cuda_sources)
    add_custom_command(OUTPUT "${folder}/${source}.o"
      COMMAND "${DICE_NVCC}" -ccbin "${DICE_CUDA_HOST_COMPILER}" -std=c++17 -O3 ${code} "-I${DICE_INCLUDE_DIR}"
              "-DDICE_CUDA_BUILT_FOR=\"${built_for}\"" -Xcompiler=-fPIC -c "${kernels}/${source}.cu" -o "${folder}/${source}.o"
      DEPENDS "${kernels}/${source}.cu" "${kernels}/launch.cuh" "${kernels}/kernels.hpp" ${shared}
      COMMENT "nvcc: ${source}.cu for ${built_for}" VERBATIM)
    list(APPEND objects "${folder}/${source}.o")
  endforeach()
  set(dice_cuda_library "${folder}/libdice_cuda.a")
  add_custom_command(OUTPUT "${dice_cuda_library}"
    COMMAND ${CMAKE_COMMAND} -E rm -f "${dice_cuda_library}"
    COMMAND "${CMAKE_AR}" rcs "${dice_cuda_library}" ${objects}
    DEPENDS ${objects} VERBATIM)
  add_custom_target(dice_cuda_kernels DEPENDS "${dice_cuda_library}")
endif()

dice_add_interface(cudnn_headers)
target_link_libraries(${target} INTERFACE dice::core "${dice_cuda_library}" "${DICE_CUDNN_LIBRARY}" CUDA::cublasLt CUDA::cudart_static)
target_include_directories(${target} SYSTEM INTERFACE "${DICE_CUDNN_INCLUDE_DIR}" ${CUDAToolkit_INCLUDE_DIRS})
target_compile_definitions(${target} INTERFACE DICE_WITH_CUDNN)
# A program whose plan has no GPU rank refers to none of these libraries, so it loads none.
target_link_options(${target} INTERFACE "LINKER:--as-needed")
if(TARGET dice_cuda_kernels)
  add_dependencies(${target} dice_cuda_kernels)
endif()

get_target_property(dice_is_imported dice_library IMPORTED)
if(dice_is_imported AND dice_cuda_library STREQUAL "${DICE_CUDA_KERNELS}" AND EXISTS "${DICE_INSTALLED_GPU_LIBRARY}")
  add_library(dice_gpu STATIC IMPORTED GLOBAL)
  set_target_properties(dice_gpu PROPERTIES IMPORTED_LOCATION "${DICE_INSTALLED_GPU_LIBRARY}")
else()
  add_library(dice_gpu STATIC "${DICE_SOURCE_DIR}/cudnn.cpp")
  dice_compiled_once(dice_gpu)
  target_link_libraries(dice_gpu PRIVATE dice::cudnn_headers)
endif()
dice_add_interface(cudnn)
target_link_libraries(${target} INTERFACE dice_gpu "$<LINK_ONLY:dice::cudnn_headers>")
target_compile_definitions(${target} INTERFACE DICE_WITH_CUDNN)
set(dice_has_cuda "CUDA ${CUDAToolkit_VERSION}, cuDNN ${dice_cudnn_version}")
