# dice_pack(TARGET)
#
# After TARGET, a program of dice::main, is linked, it writes its weights as its kernels read them: <program>.packed beside
# it, which it takes from then on (docs/running.md#packed-weights).  TARGET is one of the same CMakeLists.txt, and runs on
# the machine that builds.  When cross-compiling, CMAKE_CROSSCOMPILING_EMULATOR runs it; without one nothing is written.
include_guard(GLOBAL)

function(dice_pack target)
  if(ARGC GREATER 1 OR NOT TARGET "${target}")
    message(FATAL_ERROR "dice_pack: '${ARGV}' is no target. Usage: dice_pack(TARGET), after add_executable(TARGET …)")
  endif()
  get_target_property(emulator ${target} CROSSCOMPILING_EMULATOR)
  if(CMAKE_CROSSCOMPILING AND NOT emulator)
    message(STATUS "dice: ${target} does not run here; pack its weights on the board, by: ${target} --pack ${target}.packed")
    return()
  endif()
  # CMake puts the program's path and its emulator in place of the target.
  add_custom_command(TARGET ${target} POST_BUILD COMMAND ${target} --pack "$<TARGET_FILE:${target}>.packed"
    COMMENT "packs the weights of ${target}" VERBATIM)
  set_property(TARGET ${target} APPEND PROPERTY ADDITIONAL_CLEAN_FILES "$<TARGET_FILE:${target}>.packed")
endfunction()
