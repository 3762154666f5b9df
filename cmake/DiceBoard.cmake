# dice_board_levels(OUT): for which boards the library has kernels. For a level of x86-64, also the higher ones whose vectors are
# wider; the CPU decides which run.
#
# dice_board_flags(OUT): the compiler's flags for the CPU of DICE_BOARD, see docs/building.md; an error if the name is
# unknown or the board has another architecture than the compiler's target.
include_guard(GLOBAL)

function(dice_board_levels out)
  set(levels "${DICE_BOARD}")
  if(DICE_BOARD MATCHES "^x86-64(-v2)?$")
    list(APPEND levels x86-64-v3 x86-64-v4)
  elseif(DICE_BOARD STREQUAL "x86-64-v3")
    list(APPEND levels x86-64-v4)
  endif()
  set(${out} "${levels}" PARENT_SCOPE)
endfunction()

function(dice_board_flags out)
  if(DICE_BOARD MATCHES "^-")
    separate_arguments(flags UNIX_COMMAND "${DICE_BOARD}")
    set(${out} "${flags}" PARENT_SCOPE)
    return()
  endif()
  set(x86_64 x86-64 x86-64-v2 x86-64-v3 x86-64-v4)
  # Boards by their cores: raspberrypi.com/documentation/computers/processors.html, docs.nvidia.com/jetson.
  set(rpi3 cortex-a53)
  set(rpi4 cortex-a72)
  set(rpi5 cortex-a76)
  set(jetson_nano cortex-a57)
  set(jetson_tx2 cortex-a57)  # its two Denver cores have the same instructions
  set(jetson_orin cortex-a78)  # A78AE, a name that clang 14 does not know
  set(aarch64 rpi3 rpi4 rpi5 jetson_nano jetson_tx2 jetson_orin)

  set(processor "${CMAKE_SYSTEM_PROCESSOR}")
  if(processor MATCHES "^(AMD64|amd64)$")
    set(processor x86_64)
  elseif(processor STREQUAL "arm64")
    set(processor aarch64)
  endif()
  set(architecture "${processor}")
  if(DICE_BOARD STREQUAL "generic")
    set(flags "")
  elseif(DICE_BOARD STREQUAL "native")
    set(flags -march=native)
    if(processor MATCHES "^(aarch64|arm)")
      set(flags -mcpu=native)
    endif()
  elseif(DICE_BOARD IN_LIST x86_64)
    set(flags -march=${DICE_BOARD})
    set(architecture x86_64)
  elseif(DICE_BOARD IN_LIST aarch64)
    set(flags -mcpu=${${DICE_BOARD}})
    set(architecture aarch64)
  else()
    list(JOIN x86_64 ", " x86_64)
    list(JOIN aarch64 ", " aarch64)
    message(FATAL_ERROR "dice: no board '${DICE_BOARD}'. DICE_BOARD is native (this machine), generic (the compiler's default), "
                        "${x86_64}, ${aarch64}, or flags of the compiler, which begin with '-': -DDICE_BOARD=-march=znver3")
  endif()
  if(NOT architecture STREQUAL "${processor}")
    message(FATAL_ERROR "dice: the board '${DICE_BOARD}' is ${architecture}, but the compiler builds for ${processor}. "
                        "Cross-compile for it (docs/building.md), or name a board of ${processor}.")
  endif()
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()
