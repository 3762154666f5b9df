# The targets of dice. Included by dice's own CMakeLists.txt and by the installed diceConfig.cmake, with the headers' folder
# in DICE_INCLUDE_DIR and the folder of the library's sources in DICE_SOURCE_DIR: both make the same targets, from what is
# found where a program is built.
#
#   dice::dice           the library, compiled once for compiler, board and backends (DiceLibrary.cmake), and what programs
#                        need from it
#   dice::header_only    the same without a library: all of dice is compiled with each program
#   dice::cudnn          GPU ranks, beside dice::dice: see DICE_CUDA (DiceCuda.cmake)
#   dice::cudnn_headers  GPU ranks, beside dice::header_only; only with CUDA
#
# and their parts, each with what it needs:
#
#   dice::core      the headers, and what the compilers need to evaluate a plan
#   dice::openmp    kernels for CPUs, with the flags of the board; only if OpenMP was found
#   dice::mpi       channels by MPI; only if MPI and Boost.MPI were found
#   dice::pictures  JPEG and PNG files as input; only if stb and its compiled library were found (Debian: libstb-dev)
#
# Variables: DICE_BOARD (default: native, when cross-compiling generic; DiceBoard.cmake) and DICE_CUDA:
#   AUTO       dice::cudnn if CUDA and cuDNN are found
#   ON         the same, and an error if they are not
#   OFF        no dice::cudnn: a mapping with a GPU rank does not compile
#   ELSEWHERE  a dice::cudnn without CUDA: such a mapping compiles here for the hosts of its CPU ranks; the hosts of its
#              GPU ranks need programs built with CUDA
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW)  # Boost's own package file, not CMake's module
endif()
include("${CMAKE_CURRENT_LIST_DIR}/DiceBoard.cmake")

set(dice_default_board native)
if(CMAKE_CROSSCOMPILING)
  set(dice_default_board generic)
endif()
set(DICE_BOARD ${dice_default_board} CACHE STRING "Board to build for: native, generic (the compiler's default), x86-64-v3, rpi4, …")
set(DICE_CUDA AUTO CACHE STRING "GPU ranks: AUTO, ON, OFF or ELSEWHERE")
set_property(CACHE DICE_CUDA PROPERTY STRINGS AUTO ON OFF ELSEWHERE)

# Finds third-party packages again in every directory that asks for dice: imported targets are visible only there and below.
find_package(Threads REQUIRED)
find_package(xtensor REQUIRED)
find_package(OpenMP QUIET COMPONENTS CXX)
set(MPI_CXX_SKIP_MPICXX TRUE)  # Open MPI's old C++ classes need its compiler wrapper to link; nobody here uses them
find_package(MPI QUIET COMPONENTS CXX)
find_package(Boost 1.74 REQUIRED QUIET OPTIONAL_COMPONENTS mpi serialization)
find_path(DICE_STB_INCLUDE_DIR stb/stb_image.h DOC "folder of stb/stb_image.h, for dice::pictures")
find_library(DICE_STB_LIBRARY stb DOC "stb as a library, for dice::pictures")
mark_as_advanced(DICE_STB_INCLUDE_DIR DICE_STB_LIBRARY)
string(TOUPPER "${DICE_CUDA}" dice_cuda)
if(dice_cuda MATCHES "^(AUTO|ON)$")
  find_package(CUDAToolkit 11.4 QUIET)
endif()

if(TARGET dice::dice)
  return()
endif()

if(NOT dice_cuda MATCHES "^(AUTO|ON|OFF|ELSEWHERE)$")
  message(FATAL_ERROR "dice: DICE_CUDA is AUTO, ON, OFF or ELSEWHERE, not '${DICE_CUDA}'")
endif()

# Makes the target dice::<name> and sets `target` to the name under which it can be changed.
macro(dice_add_interface name)
  if(DICE_IS_INSTALLED)
    set(target dice::${name})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
  else()
    set(target dice_${name})
    add_library(${target} INTERFACE)
    add_library(dice::${name} ALIAS ${target})
  endif()
endmacro()

set(dice_parts dice::core)
set(dice_backends "")  # those found

# dice_add_backend(NAME LINK target… SOURCES name… FLAGS flag…): the target dice::NAME, a backend with the kernels of
# include/dice/kernels/NAME that dice's library contains, compiled from src/<name>.cpp.  It defines DICE_WITH_<NAME>.
# FLAGS are what pkg-config says for LINK.
macro(dice_add_backend name)
  cmake_parse_arguments(dice_${name} "" "" "LINK;SOURCES;FLAGS" ${ARGN})
  dice_add_interface(${name})
  target_link_libraries(${target} INTERFACE dice::core ${dice_${name}_LINK})
  string(TOUPPER "DICE_WITH_${name}" dice_${name}_definition)
  target_compile_definitions(${target} INTERFACE ${dice_${name}_definition})
  list(APPEND dice_parts dice::${name})
  list(APPEND dice_backends ${name})
endmacro()

dice_add_interface(core)
target_include_directories(${target} INTERFACE "${DICE_INCLUDE_DIR}")
target_link_libraries(${target} INTERFACE Boost::headers)
target_compile_features(${target} INTERFACE cxx_std_20)
# Plans are computed at compile time: a few hundred layers exceed the compilers' default limits.
set(dice_limits_GNU -fconstexpr-ops-limit=4294967296 -fconstexpr-loop-limit=16777216)
set(dice_limits_Clang -fconstexpr-steps=2147483647 -fbracket-depth=4096)
target_compile_options(${target} INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${dice_limits_GNU}>"
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:${dice_limits_Clang}>")

if(TARGET OpenMP::OpenMP_CXX)
  dice_add_backend(openmp LINK OpenMP::OpenMP_CXX SOURCES openmp openmp_direct openmp_winograd openmp_winograd_lines
    FLAGS ${OpenMP_CXX_FLAGS})
  dice_board_flags(dice_cpu_flags)
  target_compile_options(${target} INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${dice_cpu_flags}>")
  set(dice_has_openmp "OpenMP ${OpenMP_CXX_VERSION}, CPU ${DICE_BOARD}")
else()
  set(dice_has_openmp "no OpenMP (slow kernels of one thread; clang needs libomp, Debian: libomp-dev)")
endif()

# MPI::MPI_CXX exists even if MPI was not found.
set(dice_mpi_name "MPI")
if(NOT MPI_CXX_FOUND)
  set(dice_mpi_name "no MPI")
elseif(EXISTS "${MPI_CXX_HEADER_DIR}/mpi.h")
  file(STRINGS "${MPI_CXX_HEADER_DIR}/mpi.h" dice_mpi_version REGEX "define OMPI_(MAJOR|MINOR|RELEASE)_VERSION ")
  string(REGEX REPLACE "[^;]* ([0-9]+)" "\\1" dice_mpi_version "${dice_mpi_version}")
  list(JOIN dice_mpi_version "." dice_mpi_version)
  if(dice_mpi_version)
    set(dice_mpi_name "Open MPI ${dice_mpi_version}")
  endif()
endif()
if(MPI_CXX_FOUND AND TARGET Boost::mpi AND TARGET Boost::serialization)
  dice_add_interface(mpi)
  target_link_libraries(${target} INTERFACE dice::core Boost::mpi Boost::serialization MPI::MPI_CXX)
  target_compile_definitions(${target} INTERFACE DICE_WITH_MPI OMPI_SKIP_MPICXX)
  list(APPEND dice_parts dice::mpi)
  set(dice_has_mpi "${dice_mpi_name}, Boost.MPI ${Boost_VERSION_STRING}")
else()
  set(dice_has_mpi "${dice_mpi_name}")
  if(MPI_CXX_FOUND)
    string(APPEND dice_has_mpi " without Boost.MPI")
  endif()
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_DISABLE_FIND_PACKAGE_MPI)
    message(FATAL_ERROR "dice: ${dice_has_mpi} for ${CMAKE_SYSTEM_PROCESSOR}, so ranks could not run on several hosts. See what the "
      "sysroot lacks (docs/building.md, Cross-compiling): scripts/sysroot check ${CMAKE_SYSROOT}. For programs without MPI, add "
      "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON.")
  endif()
  string(APPEND dice_has_mpi " (ranks only as threads of one process)")
endif()

if(DICE_STB_INCLUDE_DIR AND DICE_STB_LIBRARY)
  dice_add_interface(pictures)
  target_link_libraries(${target} INTERFACE dice::core "${DICE_STB_LIBRARY}")
  target_include_directories(${target} SYSTEM INTERFACE "${DICE_STB_INCLUDE_DIR}")
  target_compile_definitions(${target} INTERFACE DICE_WITH_PICTURES)
  list(APPEND dice_parts dice::pictures)
  set(dice_has_pictures "stb")
else()
  set(dice_has_pictures "no stb (no JPEG and PNG files)")
endif()

dice_add_interface(header_only)
target_link_libraries(${target} INTERFACE ${dice_parts} Threads::Threads xtensor)
target_compile_definitions(${target} INTERFACE DICE_HEADER_ONLY)
# A target that links this and dice::dice is an error.
set_target_properties(${target} PROPERTIES INTERFACE_DICE_FORM header_only COMPATIBLE_INTERFACE_STRING DICE_FORM)
include("${CMAKE_CURRENT_LIST_DIR}/DiceLibrary.cmake")

if(dice_cuda MATCHES "^(AUTO|ON)$")
  include("${CMAKE_CURRENT_LIST_DIR}/DiceCuda.cmake")
  if(dice_cuda STREQUAL "ON" AND NOT TARGET dice::cudnn)
    message(FATAL_ERROR "dice: DICE_CUDA=ON, but there is ${dice_has_cuda}")
  endif()
elseif(dice_cuda STREQUAL "ELSEWHERE")
  dice_add_interface(cudnn)
  target_compile_definitions(${target} INTERFACE DICE_WITH_GPUS_ELSEWHERE)
  set(dice_has_cuda "GPU ranks elsewhere")
else()
  set(dice_has_cuda "no GPU ranks (DICE_CUDA=OFF)")
endif()

message(STATUS "dice: ${dice_has_openmp}; ${dice_has_mpi}; ${dice_has_pictures}; ${dice_has_cuda}; xtensor ${xtensor_VERSION}; library ${dice_has_library}")
