# dice_pack(TARGET [AT_START])
#
# After linking, TARGET, a program of dice::main, writes its weights as its kernels read them to <program>.packed beside it,
# and uses this file from then on (docs/running.md#packed-weights). TARGET must be from the same CMakeLists.txt and run on
# the build machine; when cross-compiling, under CMAKE_CROSSCOMPILING_EMULATOR. Without an emulator, or with AT_START, the
# program writes the file on the board when it is first started there.
include_guard(GLOBAL)

function(dice_pack target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "AT_START" "" "")
  if(arg_UNPARSED_ARGUMENTS OR NOT TARGET "${target}")
    message(FATAL_ERROR "dice_pack: '${ARGV}' is not a target. Usage: dice_pack(TARGET [AT_START]), after add_executable(TARGET …)")
  endif()
  get_target_property(emulator ${target} CROSSCOMPILING_EMULATOR)
  if(arg_AT_START OR (CMAKE_CROSSCOMPILING AND NOT emulator))
    target_compile_definitions(${target} PRIVATE DICE_PACK_AT_START)
    add_custom_command(TARGET ${target} POST_BUILD COMMAND "${CMAKE_COMMAND}" -E rm -f "$<TARGET_FILE:${target}>.packed")
    return()
  endif()
  # CMake replaces the target by the program's path and its emulator.
  add_custom_command(TARGET ${target} POST_BUILD COMMAND ${target} --pack "$<TARGET_FILE:${target}>.packed"
    COMMENT "packs the weights of ${target}" VERBATIM)
  set_property(TARGET ${target} APPEND PROPERTY ADDITIONAL_CLEAN_FILES "$<TARGET_FILE:${target}>.packed")
endfunction()
