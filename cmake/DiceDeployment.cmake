# dice_add_board(NAME [DICE_BOARD BOARD] [TOOLCHAIN FILE] [SYSROOT FOLDER] [OPTIONS option…])
# dice_add_deployment(NAME NETWORK network PLAN plan.hpp [MAPPING type] [CLUSTER type] [SOURCES file…] [NETWORKS network…]
#                     [SETUP file.cmake] [FILES file…] [FOLDER folder] [MPIRUN_OPTIONS option…] [CONTACT "Name <mail>"] [GPU]
#                     [ANY_MAPPING])
#
# A deployment (docs/deployment.md) is a network, and a header that declares a mapping, `deployment`, and its cluster,
# `machines` (or the types that MAPPING and CLUSTER name). NETWORK is from dice_add_network. Targets:
#
#   NAME           the program with all ranks, for this machine. It knows the plan, packs weights, and can run all ranks here
#   NAME-boards    part of `all`: for each kind of board on which ranks run, the program with just these ranks, in
#                  dice_boards/BOARD of the build folder
#   NAME-packages  for each host, NAME-packages/HOST.tar.gz; for each kind of board, NAME-packages/NAME-BOARD.deb
#
# SOURCES are the program's own sources, if it does not only run dice::main: they include the plan's header, and name the
# cluster after the mapping, in dice::main or dice::start. NETWORKS are more networks whose headers they include; their weights
# go into every package. SETUP is included in each board's build after the program's target, whose name is in DICE_TARGET: for
# libraries, folders and definitions of one's own. FILES go into every package. FOLDER is where packages are unpacked on all
# hosts; without it, that is the same path as on the host that starts the job. MPIRUN_OPTIONS are added to mpirun's. CONTACT is
# the maintainer of the .deb. GPU: ranks run on GPUs. ANY_MAPPING: the boards' programs accept --mapping, and have the kernels
# for it.
#
# dice_add_board says how programs for a kind of board are compiled: for board<"NAME", …>, or for one of boards.hpp, which
# have defaults. DICE_BOARD is a value of this variable (DiceBoard.cmake), TOOLCHAIN one of CMake's toolchain files, or
# aarch64-linux-gnu.cmake for dice's own; SYSROOT is the folder with the board's libraries, with dice's toolchain by default
# DICE_SYSROOT. OPTIONS are for the cmake command, such as -DOpenMP_CXX_FLAGS=….
include_guard(GLOBAL)

set_property(GLOBAL PROPERTY DICE_LICENCE "${DICE_LICENCE}")  # of an installed dice
if(NOT DICE_IS_INSTALLED)
  set_property(GLOBAL PROPERTY DICE_LICENCE "${PROJECT_SOURCE_DIR}/LICENSE")
endif()
set_property(GLOBAL PROPERTY DICE_IS_INSTALLED "${DICE_IS_INSTALLED}")

function(dice_add_board name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DICE_BOARD;TOOLCHAIN;SYSROOT" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "dice_add_board: '${arg_UNPARSED_ARGUMENTS}${arg_KEYWORDS_MISSING_VALUES}' is unknown, or lacks a value. Usage: "
                        "dice_add_board(NAME [DICE_BOARD BOARD] [TOOLCHAIN FILE] [SYSROOT FOLDER] [OPTIONS option…])")
  endif()
  set(options ${arg_OPTIONS})
  if("${ARGN}" MATCHES "(^|;)DICE_BOARD(;|$)")
    if(NOT "${arg_DICE_BOARD}" MATCHES "^[^;]+$")
      message(FATAL_ERROR "dice_add_board(${name}): DICE_BOARD is one board, not '${arg_DICE_BOARD}'")
    endif()
    list(APPEND options "-DDICE_BOARD=${arg_DICE_BOARD}")
  endif()
  if(arg_TOOLCHAIN)
    get_filename_component(toolchain "${arg_TOOLCHAIN}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    if(NOT EXISTS "${toolchain}")
      get_filename_component(toolchain "${arg_TOOLCHAIN}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
    endif()
    if(NOT EXISTS "${toolchain}")
      message(FATAL_ERROR "dice_add_board(${name}): there is no toolchain file '${arg_TOOLCHAIN}'")
    endif()
    list(APPEND options "-DCMAKE_TOOLCHAIN_FILE=${toolchain}")
    if(DICE_SYSROOT AND NOT arg_SYSROOT)
      set(arg_SYSROOT "${DICE_SYSROOT}")
    endif()
  endif()
  if(arg_SYSROOT)
    get_filename_component(sysroot "${arg_SYSROOT}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
    list(APPEND options "-DCMAKE_SYSROOT=${sysroot}")
  endif()
  if(NOT name MATCHES "^[A-Za-z0-9][A-Za-z0-9._-]*$")
    message(FATAL_ERROR "dice_add_board: '${name}' cannot be the name of a folder; use letters, digits and . _ -")
  endif()
  string(SHA1 key "${name}")
  set_property(GLOBAL PROPERTY "DICE_BOARD_OPTIONS_${key}" "${options}")
  set_property(GLOBAL APPEND PROPERTY DICE_BOARDS "${name}")
endfunction()

# The boards of include/dice/platform/boards.hpp.
set(dice_arm TOOLCHAIN aarch64-linux-gnu.cmake)
dice_add_board(x86 DICE_BOARD x86-64-v3)
dice_add_board(raspberry_pi_4 DICE_BOARD rpi4 ${dice_arm})
dice_add_board(raspberry_pi_5 DICE_BOARD rpi5 ${dice_arm})
dice_add_board(jetson_nano DICE_BOARD jetson_nano ${dice_arm})
dice_add_board(jetson_tx2 DICE_BOARD jetson_tx2 ${dice_arm})
dice_add_board(jetson_xavier_nx DICE_BOARD -march=armv8.2-a ${dice_arm})
dice_add_board(jetson_orin_nano DICE_BOARD jetson_orin ${dice_arm})
get_property(dice_boards GLOBAL PROPERTY DICE_BOARDS)
set_property(GLOBAL PROPERTY DICE_BOARDS_OF_DICE "${dice_boards}")

# Writes the settings of a deployment or board for scripts, after all generator expressions are known.
function(dice_write_settings file)
  set(text "")
  foreach(variable IN LISTS ARGN)
    string(APPEND text "set(${variable} [==[${${variable}}]==])\n")
  endforeach()
  file(GENERATE OUTPUT "${file}" CONTENT "${text}")
endfunction()

# Sets <out> to FOLDER without `.`, `..` and needless `/`; empty if packages cannot be in that folder.
function(dice_deployment_folder out folder)
  set(${out} "" PARENT_SCOPE)
  if(folder MATCHES "^/[A-Za-z0-9_./+-]*$")
    string(REGEX REPLACE "/+" "/" folder "${folder}/.")
    cmake_path(NORMAL_PATH folder)
    string(REGEX REPLACE "/$" "" folder "${folder}")
    set(${out} "${folder}" PARENT_SCOPE)
  endif()
endfunction()

function(dice_add_deployment name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GPU;ANY_MAPPING" "NETWORK;PLAN;MAPPING;CLUSTER;SETUP;FOLDER;CONTACT"
    "SOURCES;NETWORKS;FILES;MPIRUN_OPTIONS")
  set(usage "Usage: dice_add_deployment(NAME NETWORK network PLAN plan.hpp [MAPPING type] [CLUSTER type] [SOURCES file…] "
            "[NETWORKS network…] [SETUP file.cmake] [FILES file…] [FOLDER folder] [MPIRUN_OPTIONS option…] "
            "[CONTACT \"Name <mail>\"] [GPU] [ANY_MAPPING])")
  string(JOIN "" usage ${usage})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "dice_add_deployment: unknown argument '${arg_UNPARSED_ARGUMENTS}'. ${usage}")
  elseif(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "dice_add_deployment: ${arg_KEYWORDS_MISSING_VALUES} without a value. ${usage}")
  elseif(NOT arg_NETWORK OR NOT arg_PLAN)
    message(FATAL_ERROR "dice_add_deployment: NETWORK and PLAN are needed. ${usage}")
  elseif(NOT name MATCHES "^[a-z0-9][a-z0-9+.-]+$")
    message(FATAL_ERROR "dice_add_deployment: '${name}' cannot be the name of Debian packages; use at least two lower-case letters, digits, + - and .")
  elseif(name MATCHES "^(app|hosts|ranks|run)$")
    message(FATAL_ERROR "dice_add_deployment: packages have a file '${name}', so their program needs another name")
  endif()
  dice_deployment_folder(folder "${arg_FOLDER}")
  if(arg_FOLDER AND NOT folder)
    message(FATAL_ERROR "dice_add_deployment: FOLDER '${arg_FOLDER}' is not an absolute path of letters, digits and _ . / + - to a folder "
                        "below /, such as /opt")
  endif()
  foreach(option IN LISTS arg_MPIRUN_OPTIONS)
    if(option MATCHES "^-[^ ]* ")
      message(FATAL_ERROR "dice_add_deployment: MPIRUN_OPTIONS has '${option}' as one word; write its words without quotes")
    endif()
  endforeach()
  foreach(kind IN ITEMS PLAN SOURCES SETUP FILES)
    set(${kind} "")
    foreach(file IN LISTS arg_${kind})
      get_filename_component(file "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
      if(NOT EXISTS "${file}" OR IS_DIRECTORY "${file}")
        message(FATAL_ERROR "dice_add_deployment: no file '${file}' (${kind} of '${name}')")
      endif()
      list(APPEND ${kind} "${file}")
    endforeach()
  endforeach()
  set(taken ${name} ${name}.packed app hosts ranks run manifest.json LICENSE.dice NOTICES)
  foreach(file IN LISTS FILES)
    get_filename_component(file "${file}" NAME)
    if(file IN_LIST taken OR NOT file MATCHES "^[^\"\\]+$")
      message(FATAL_ERROR "dice_add_deployment: packages have a file '${file}' already, or it cannot be listed in JSON; "
                          "give this one of FILES another name")
    endif()
    list(APPEND taken "${file}")
  endforeach()

  set(network "${arg_NETWORK}")
  set(networks ${network} ${arg_NETWORKS})
  set(mapping deployment)
  set(cluster machines)
  foreach(type IN ITEMS mapping cluster)
    string(TOUPPER ${type} argument)
    if(arg_${argument})
      set(${type} "${arg_${argument}}")
    endif()
  endforeach()
  set(include_folders "")
  set(forced_includes "")
  foreach(each IN LISTS networks)
    if(NOT TARGET dice_network_${each})
      message(FATAL_ERROR "dice_add_deployment: there is no network '${each}'; make it with dice_add_network(${each} …) before")
    endif()
    get_target_property(folder dice_network_${each} INTERFACE_INCLUDE_DIRECTORIES)
    get_target_property(tuned dice_network_${each} DICE_TUNED)
    list(APPEND include_folders "${folder}")
    if(tuned)
      list(APPEND forced_includes "${tuned}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES include_folders)

  set(settings "${CMAKE_BINARY_DIR}/dice_deployments$<$<BOOL:$<CONFIG>>:/$<CONFIG>>")
  set(main "${CMAKE_BINARY_DIR}/dice_deployments/${name}.cpp")
  file(CONFIGURE OUTPUT "${main}" @ONLY CONTENT [[
// Made by dice_add_deployment(@name@ …).
#include <dice/dice.hpp>

#include "@network@.hpp"
#include "@PLAN@"

int main(int argc, char** argv) { return dice::main<@network@::network, @mapping@, @cluster@>(argc, argv); }
]])
  add_executable(${name} "${main}")
  list(TRANSFORM networks PREPEND dice::network:: OUTPUT_VARIABLE linked)
  target_link_libraries(${name} PRIVATE dice::dice ${linked})
  if(arg_GPU AND NOT TARGET dice::cudnn)
    message(FATAL_ERROR "dice_add_deployment: GPU needs CUDA and cuDNN on this machine, and they were not found (DICE_CUDA)")
  elseif(arg_GPU)
    target_link_libraries(${name} PRIVATE dice::cudnn)
  else()
    target_compile_definitions(${name} PRIVATE DICE_WITH_GPUS_ELSEWHERE)  # the script says that GPU is missing
  endif()

  # What the programs of the boards are made from: read by deployment/CMakeLists.txt.
  set(sources "${SOURCES}")
  if(NOT sources)
    set(sources "${main}")
  endif()
  set(any_mapping ${arg_ANY_MAPPING})
  set(setup "${SETUP}")
  dice_write_settings("${settings}/${name}.program.cmake" name sources include_folders forced_includes any_mapping setup)
  set_property(GLOBAL APPEND PROPERTY DICE_DEPLOYMENTS "${settings}/${name}.program.cmake")

  # How the boards' programs and the packages are made: read by deployment/build.cmake.
  set(program "$<TARGET_FILE:${name}>")
  set(gpu ${arg_GPU})
  set(reports_status TRUE)  # dice::main does; a program of one's own may have no engine for a while
  if(SOURCES)
    set(reports_status FALSE)
  endif()
  set(more_weights "")
  foreach(each IN LISTS arg_NETWORKS)
    get_target_property(folder dice_network_${each} INTERFACE_INCLUDE_DIRECTORIES)
    list(APPEND more_weights "${folder}/${each}.safetensors")
  endforeach()
  set(files "${FILES}")
  dice_deployment_folder(folder "${arg_FOLDER}")
  set(mpirun_options "${arg_MPIRUN_OPTIONS}")
  set(contact "${arg_CONTACT}")
  if(NOT contact)
    set(contact "nobody <nobody@localhost>")
  endif()
  set(version "${PROJECT_VERSION}")
  if(NOT version)
    set(version 0.0.0)
  endif()
  set(boards_folder "${CMAKE_BINARY_DIR}/dice_boards")
  set(packages_folder "${CMAKE_CURRENT_BINARY_DIR}/${name}-packages")
  list(GET include_folders 0 network_folder)
  get_property(licence GLOBAL PROPERTY DICE_LICENCE)
  get_property(installed GLOBAL PROPERTY DICE_IS_INSTALLED)
  set(dice_folder "")  # or dice is installed
  if(NOT installed)
    get_filename_component(dice_folder "${CMAKE_CURRENT_FUNCTION_LIST_DIR}" DIRECTORY)
  endif()
  set(package_file "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")  # of an installed dice
  string(REPLACE "Ninja Multi-Config" "Ninja" generator "${CMAKE_GENERATOR}")
  set(make_program "${CMAKE_MAKE_PROGRAM}")
  set(compiler "${CMAKE_CXX_COMPILER}")
  # These can be lists, which do not survive on a command line.
  set(cache "")
  foreach(variable IN ITEMS CMAKE_CXX_COMPILER_LAUNCHER CMAKE_PREFIX_PATH CMAKE_UNITY_BUILD DICE_LIBRARY_OPTIMISED DICE_CUDA_ARCHITECTURES)
    if(DEFINED ${variable})
      string(APPEND cache "set(${variable} [==[${${variable}}]==] CACHE STRING \"\" FORCE)\n")
    endif()
  endforeach()
  file(GENERATE OUTPUT "${settings}/${name}.cache.cmake" CONTENT "${cache}")
  set(build_type "$<IF:$<CONFIG:>,Release,$<CONFIG>>")
  dice_write_settings("${settings}/${name}.cmake" name network network_folder more_weights program gpu files folder mpirun_options
    contact version licence settings boards_folder packages_folder dice_folder package_file generator make_program compiler
    build_type reports_status)

  foreach(action IN ITEMS boards packages)
    add_custom_target(${name}-${action}
      COMMAND "${CMAKE_COMMAND}" "-DDEPLOYMENT=${settings}/${name}.cmake" -DACTION=${action} -P
              "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/deployment/build.cmake"
      USES_TERMINAL VERBATIM)
    add_dependencies(${name}-${action} ${name})
  endforeach()
  set_target_properties(${name}-boards PROPERTIES EXCLUDE_FROM_ALL FALSE)

  # Once for the build, when all boards and deployments are known.
  get_property(deferred GLOBAL PROPERTY DICE_BOARDS_DEFERRED)
  if(NOT deferred)
    set_property(GLOBAL PROPERTY DICE_BOARDS_DEFERRED TRUE)
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL dice_write_boards [[${settings}]])")
  endif()
endfunction()

function(dice_write_boards settings)
  get_property(boards GLOBAL PROPERTY DICE_BOARDS)
  list(REMOVE_DUPLICATES boards)
  # Those of the project; the clusters of several deployments may share them out.
  set(own_boards "${boards}")
  get_property(of_dice GLOBAL PROPERTY DICE_BOARDS_OF_DICE)
  list(REMOVE_ITEM own_boards ${of_dice})
  get_property(deployments GLOBAL PROPERTY DICE_DEPLOYMENTS)
  list(LENGTH deployments count)
  if(count GREATER 1)
    set(own_boards "")
  endif()
  set(variables boards own_boards)
  foreach(board IN LISTS boards)
    string(SHA1 key "${board}")
    get_property(options_${key} GLOBAL PROPERTY "DICE_BOARD_OPTIONS_${key}")
    list(APPEND variables options_${key})
  endforeach()
  dice_write_settings("${settings}/boards.cmake" ${variables})
  dice_write_settings("${settings}/programs.cmake" deployments)
endfunction()
