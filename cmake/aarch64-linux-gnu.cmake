# Toolchain file for boards of 64-bit ARM: Debian's g++-aarch64-linux-gnu. Libraries come from CMAKE_SYSROOT or
# CMAKE_FIND_ROOT_PATH; without either, from Debian's :arm64 packages on this machine. Programs of the build, including
# tests, run under qemu-user-static if it is installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(DICE_QEMU NAMES qemu-aarch64-static qemu-aarch64)
mark_as_advanced(DICE_QEMU)
if(DICE_QEMU)
  set(dice_loader "${CMAKE_SYSROOT}")  # where the board's libraries are loaded from
  if(NOT dice_loader)
    set(dice_loader /usr/aarch64-linux-gnu)
  endif()
  set(CMAKE_CROSSCOMPILING_EMULATOR "${DICE_QEMU};-L;${dice_loader}")
endif()
