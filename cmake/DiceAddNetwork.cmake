# dice_add_network(NAME ONNX model.onnx [INPUT name:1x3x224x224]… [DIM name=1]… [OUTPUTS a,b] [OPTIONS …]
#                  [MAPPING FILE PLATFORM FILE] [PROFILE FILE…] [TUNED FILE] [PIN_WEIGHTS])
# dice_add_network(NAME HEADER NAME.hpp [TUNED FILE])
#
# Makes the target dice::network::NAME. Programs that link it can include NAME.hpp, which has the network in the namespace
# NAME. The first form runs onnx2hpp when the program is built, and again when the model (or a file of external data that it
# names) changes; INPUT, DIM and OUTPUTS are its -i, -d and --outputs; OPTIONS, by default -q, are passed on unchanged. The
# second form takes an existing header, with its .safetensors beside it: boards need no onnx2hpp. With PIN_WEIGHTS, programs
# take only the weights of this model, and not those of another training (docs/running.md#new-weights).
#
# MAPPING and PLATFORM, AutoDiCE's files, make NAME_mapping.hpp beside NAME.hpp; PROFILE, files that programs of this network
# write with --measure FILE, make NAME_profile.hpp. PROFILE files that do not exist yet are skipped.
#
# TUNED names the header that a program of this network writes with --tune FILE: all programs that link the network include
# it. Until it exists, programs are built without it.
#
# NAME is a C++ identifier that can be a namespace. Relative paths are relative to the current source folder. All networks of
# a build are made in <build>/dice_networks; programs have this path as DICE_NETWORKS_DIR and find the weights there if these
# lie neither beside the program nor in the working folder.
#
# Variable: DICE_ONNX2HPP, the converter to run where dice's own is not built.
include_guard(GLOBAL)

# Validator for find_program: rejects a program that does not run on the build machine.
function(dice_runs_here result program)
  execute_process(COMMAND "${program}" --version RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(NOT status STREQUAL "0")
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

function(dice_find_onnx2hpp out)
  if(DICE_ONNX2HPP)
    set(${out} "${DICE_ONNX2HPP}" PARENT_SCOPE)
  elseif(TARGET dice::onnx2hpp)
    set(${out} dice::onnx2hpp PARENT_SCOPE)
  else()
    # Cross-compiling: the onnx2hpp of an installed dice may be for the build machine or for the target.
    find_program(DICE_ONNX2HPP onnx2hpp HINTS "${DICE_TOOLS_DIR}" NO_CMAKE_FIND_ROOT_PATH VALIDATOR dice_runs_here
      DOC "dice's converter, for the machine that builds")
    if(NOT DICE_ONNX2HPP)
      message(FATAL_ERROR "dice_add_network: no onnx2hpp found. Say where it is with -DDICE_ONNX2HPP=/path/to/onnx2hpp, or "
                          "use a header made on another machine: dice_add_network(NAME HEADER NAME.hpp).")
    endif()
    set(${out} "${DICE_ONNX2HPP}" PARENT_SCOPE)
  endif()
endfunction()

# Appends a word to a list for COMMAND, which gets it unchanged even if it is "a;b" or "$<x>".
function(dice_append_word list word)
  string(REPLACE "$<" "$<1:$><" word "${word}")
  string(REPLACE ";" "\\;" word "${word}")
  set(${list} "${${list}};${word}" PARENT_SCOPE)
endfunction()

function(dice_add_network name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PIN_WEIGHTS" "ONNX;HEADER;TUNED;MAPPING;PLATFORM" "INPUT;DIM;OUTPUTS;OPTIONS;PROFILE")
  set(usage "dice_add_network(${name} ONNX model.onnx [INPUT name:shape]… [DIM name=n]… [OUTPUTS a,b] [OPTIONS …] "
            "[MAPPING FILE PLATFORM FILE] [PROFILE FILE…] [TUNED FILE] [PIN_WEIGHTS]) "
            "or dice_add_network(${name} HEADER ${name}.hpp [TUNED FILE])")
  string(JOIN "" usage ${usage})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "dice_add_network: unknown argument '${arg_UNPARSED_ARGUMENTS}'. Usage: ${usage}")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "dice_add_network: ${arg_KEYWORDS_MISSING_VALUES} without a value. Usage: ${usage}")
  endif()
  if((arg_ONNX AND arg_HEADER) OR NOT (arg_ONNX OR arg_HEADER))
    message(FATAL_ERROR "dice_add_network: exactly one of ONNX and HEADER is needed. Usage: ${usage}")
  endif()
  if((arg_MAPPING AND NOT arg_PLATFORM) OR (arg_PLATFORM AND NOT arg_MAPPING))
    message(FATAL_ERROR "dice_add_network: MAPPING and PLATFORM need each other. Usage: ${usage}")
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "dice_add_network: '${name}' cannot be the name of a namespace; use letters, digits and _")
  endif()
  if(TARGET dice_network_${name})
    message(FATAL_ERROR "dice_add_network: the network '${name}' exists already; names are unique in a build")
  endif()

  set(folder "${CMAKE_BINARY_DIR}/dice_networks")
  if(arg_HEADER)
    if(arg_INPUT OR arg_DIM OR arg_OUTPUTS OR arg_OPTIONS OR arg_MAPPING OR arg_PLATFORM OR arg_PROFILE OR arg_PIN_WEIGHTS)
      message(FATAL_ERROR "dice_add_network: INPUT, DIM, OUTPUTS, OPTIONS, MAPPING, PLATFORM, PROFILE and PIN_WEIGHTS belong to ONNX; "
                          "the header '${arg_HEADER}' is made")
    endif()
    get_filename_component(header "${arg_HEADER}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    get_filename_component(file "${header}" NAME)
    if(NOT file STREQUAL "${name}.hpp")
      message(FATAL_ERROR "dice_add_network: the header of the network '${name}' is named ${name}.hpp, not '${file}'")
    endif()
    if(NOT EXISTS "${header}")
      message(FATAL_ERROR "dice_add_network: no header '${header}'; make it with: onnx2hpp model.onnx --name ${name} -o <folder>")
    endif()
    get_filename_component(place "${header}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    if(EXISTS "${place}/${name}.safetensors")
      file(CREATE_LINK "${place}/${name}.safetensors" "${folder}/${name}.safetensors" SYMBOLIC COPY_ON_ERROR)
    else()
      message(STATUS "dice: no ${name}.safetensors beside ${file}; the program looks beside itself, or use --weights")
    endif()
  else()
    get_filename_component(model "${arg_ONNX}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    get_source_file_property(generated "${model}" GENERATED)
    if(NOT EXISTS "${model}" AND NOT generated)
      message(FATAL_ERROR "dice_add_network: no model '${model}' (ONNX of the network '${name}')")
    endif()
    set(place "${folder}")
    set(options --name "${name}")
    foreach(input IN LISTS arg_INPUT)
      dice_append_word(options "--input=${input}")
    endforeach()
    foreach(dim IN LISTS arg_DIM)
      dice_append_word(options "--dimension=${dim}")
    endforeach()
    if(arg_OUTPUTS)
      list(JOIN arg_OUTPUTS "," outputs)
      dice_append_word(options "--outputs=${outputs}")
    endif()
    if(arg_PIN_WEIGHTS)
      dice_append_word(options "--pin-weights")
    endif()
    set(made "${folder}/${name}.hpp" "${folder}/${name}.safetensors" "${folder}/${name}.json")
    set(read "")
    foreach(kind IN ITEMS MAPPING PLATFORM PROFILE)
      string(TOLOWER ${kind} option)
      foreach(file IN LISTS arg_${kind})
        get_filename_component(file "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
        get_source_file_property(generated "${file}" GENERATED)
        file(GLOB ignored CONFIGURE_DEPENDS "${file}")  # the first build with the file configures again
        if(EXISTS "${file}" OR generated)
          dice_append_word(options "--${option}=${file}")
          list(APPEND read "${file}")
          if(NOT kind STREQUAL "PLATFORM")
            list(APPEND made "${folder}/${name}_${option}.hpp")
          endif()
        elseif(kind STREQUAL "PROFILE")
          message(STATUS "dice: no ${file} yet: a program of the network ${name} makes it with --measure FILE, "
            "and dice-run measure on the hosts of a deployment")
        else()
          message(FATAL_ERROR "dice_add_network: no file '${file}' (${kind} of the network '${name}')")
        endif()
      endforeach()
    endforeach()
    list(REMOVE_DUPLICATES made)
    if(arg_OPTIONS)
      list(APPEND options ${arg_OPTIONS})
    else()
      list(APPEND options -q)
    endif()

    dice_find_onnx2hpp(onnx2hpp)
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(
      OUTPUT ${made}
      COMMAND ${onnx2hpp} "${model}" -o "${folder}" ${options} --depfile "${folder}/${name}.d"
      DEPENDS "${model}" ${read} ${onnx2hpp}
      DEPFILE "${folder}/${name}.d"
      COMMENT "onnx2hpp: ${name}"
      VERBATIM)
    add_custom_target(dice_generate_${name} DEPENDS ${made})
  endif()

  add_library(dice_network_${name} INTERFACE)
  add_library(dice::network::${name} ALIAS dice_network_${name})
  target_include_directories(dice_network_${name} INTERFACE "${place}")
  target_compile_definitions(dice_network_${name} INTERFACE "DICE_NETWORKS_DIR=\"${folder}\"")
  target_link_libraries(dice_network_${name} INTERFACE dice::core)
  if(arg_TUNED)
    get_filename_component(table "${arg_TUNED}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    file(GLOB tuned CONFIGURE_DEPENDS "${table}")  # the first build with the file configures again
    if(tuned)
      target_compile_options(dice_network_${name} INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include \"${table}\">")
      set_target_properties(dice_network_${name} PROPERTIES DICE_TUNED "${table}")  # for dice_add_deployment
    else()
      message(STATUS "dice: no ${table} yet: programs of the network ${name} choose algorithms by themselves; one of them "
                     "makes it with --tune FILE")
    endif()
  endif()
  if(TARGET dice_generate_${name})
    add_dependencies(dice_network_${name} dice_generate_${name})
  endif()
endfunction()
