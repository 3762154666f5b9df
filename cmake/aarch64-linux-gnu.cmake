# Toolchain file for boards of 64-bit ARM: Debian's g++-aarch64-linux-gnu, with the board's headers and libraries from a sysroot
# (scripts/sysroot, installed beside this file) in DICE_SYSROOT. Programs of the build, including tests, run under
# qemu if it is installed (Debian: qemu-user). MPI is that of the sysroot, in Debian's place or in /usr/local.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(DICE_SYSROOT "${CMAKE_SYSROOT}" CACHE PATH "Headers and libraries of the board (scripts/sysroot)")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DICE_SYSROOT)
get_property(dice_within_check GLOBAL PROPERTY IN_TRY_COMPILE)
if(NOT dice_within_check)
  find_program(DICE_SYSROOT_SCRIPT sysroot PATHS "${CMAKE_CURRENT_LIST_DIR}" "${CMAKE_CURRENT_LIST_DIR}/../scripts"
    NO_DEFAULT_PATH REQUIRED)
  mark_as_advanced(DICE_SYSROOT_SCRIPT)
  find_program(dice_compiler ${CMAKE_CXX_COMPILER} NO_CACHE)
  if(NOT dice_compiler)
    message(FATAL_ERROR "dice: there is no ${CMAKE_CXX_COMPILER} here: install it (Debian: g++-aarch64-linux-gnu)")
  endif()
  if(NOT IS_DIRECTORY "${DICE_SYSROOT}")
    message(FATAL_ERROR "dice: there is no sysroot '${DICE_SYSROOT}'. Make one of Debian's packages or from a board, and say where "
      "it is, with -DDICE_SYSROOT=DIR:\n  ${DICE_SYSROOT_SCRIPT} debian DIR\n  ${DICE_SYSROOT_SCRIPT} board USER@HOST DIR")
  endif()
  set(dice_without "")
  if(CMAKE_DISABLE_FIND_PACKAGE_MPI)
    set(dice_without --without-mpi)
  endif()
  execute_process(COMMAND "${DICE_SYSROOT_SCRIPT}" check ${dice_without} "${DICE_SYSROOT}" RESULT_VARIABLE dice_failed
    OUTPUT_VARIABLE dice_has ERROR_VARIABLE dice_has OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "\n" "\n  " dice_has "\n${dice_has}")  # CMake keeps indented lines
  if(dice_failed OR NOT dice_has MATCHES "aarch64-linux-gnu")
    message(FATAL_ERROR "dice: the sysroot '${DICE_SYSROOT}' is not complete, or not for aarch64:${dice_has}\n"
      "Install what is missing on the board, and copy the board again, or take Debian's packages:\n"
      "  ${DICE_SYSROOT_SCRIPT} board USER@HOST DIR\n  ${DICE_SYSROOT_SCRIPT} debian DIR")
  endif()
endif()
set(CMAKE_SYSROOT "${DICE_SYSROOT}")

# The compiler has C and C++ libraries of its own, which it would prefer to the board's.
add_link_options("-B${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")

# CMake's FindMPI would ask this machine's mpicxx.
foreach(place IN ITEMS "usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi" usr/local)
  if(EXISTS "${CMAKE_SYSROOT}/${place}/include/mpi.h")
    set(MPI_CXX_COMPILER_INCLUDE_DIRS "${CMAKE_SYSROOT}/${place}/include" CACHE STRING "mpi.h of the board" FORCE)
    set(MPI_mpi_LIBRARY "${CMAKE_SYSROOT}/${place}/lib/libmpi.so" CACHE FILEPATH "MPI of the board" FORCE)
    set(MPI_CXX_LIB_NAMES mpi CACHE STRING "MPI of the board" FORCE)
    break()
  endif()
endforeach()
set(MPI_SKIP_COMPILER_WRAPPER TRUE)

find_program(DICE_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
mark_as_advanced(DICE_QEMU)
if(DICE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${DICE_QEMU};-L;${CMAKE_SYSROOT}")
endif()
