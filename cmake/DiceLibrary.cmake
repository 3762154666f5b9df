# The target dice::dice: what depends on no network and no mapping, compiled once.  An installed dice has it compiled for the
# compiler, board and backends of its own build; for any other combination the project that uses dice compiles it in its own
# build, from the sources in DICE_SOURCE_DIR.
#
# Included by DiceTargets.cmake. Sets dice_library_id: an identifier of compiler, board and backends that the library defines
# and programs refer to, so that mismatched ones do not link (include/dice/meta/library_id.hpp).

# What identifies the compiled code: the compiler's macros for itself, its standard library, its flags and its target CPU,
# and the versions of the libraries whose headers it compiles.
option(DICE_LIBRARY_OPTIMISED "Compile dice's library with -O3 in other projects, whatever their build type is" ON)
mark_as_advanced(DICE_LIBRARY_OPTIMISED)
file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/dice_macros.cpp" "#include <version>\n")
separate_arguments(dice_flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS}")
if(CMAKE_CXX_COMPILER_TARGET)
  list(APPEND dice_flags "${CMAKE_CXX_COMPILE_OPTIONS_TARGET}${CMAKE_CXX_COMPILER_TARGET}")
endif()
if(CMAKE_SYSROOT)
  list(APPEND dice_flags "--sysroot=${CMAKE_SYSROOT}")
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" -E env LC_ALL=C "${CMAKE_CXX_COMPILER}" ${CMAKE_CXX_COMPILER_ARG1} ${dice_flags} ${dice_cpu_flags}
  -std=c++20 -w -dM -E "${CMAKE_BINARY_DIR}/CMakeFiles/dice_macros.cpp" OUTPUT_VARIABLE dice_macros ERROR_VARIABLE dice_failure RESULT_VARIABLE dice_failed)
if(dice_failed)
  string(JOIN " " dice_flags ${dice_flags} ${dice_cpu_flags})
  message(FATAL_ERROR "dice: the compiler '${CMAKE_CXX_COMPILER}' does not say what it is (-dM -E); its flags are '${dice_flags}' "
    "(CMAKE_CXX_FLAGS and DICE_BOARD=${DICE_BOARD}):\n${dice_failure}")
endif()
# DICE_INSTRUCTIONS: the instructions that programs need of their CPU, those of their kernels' lowest level, by the names and macros
# of instructions.hpp. The manifests of packages have them.
file(READ "${DICE_INCLUDE_DIR}/dice/this_host/instructions.hpp" dice_sets)
set(dice_set "#elif defined(__aarch64__)\n#define DICE_INSTRUCTION_SETS")  # after x86-64's, some of whose macros ARM has, too
string(FIND "${dice_sets}" "${dice_set}" dice_arm)
if(dice_macros MATCHES "#define __aarch64__ ")
  string(SUBSTRING "${dice_sets}" ${dice_arm} -1 dice_sets)
else()
  string(SUBSTRING "${dice_sets}" 0 ${dice_arm} dice_sets)
endif()
string(REGEX MATCHALL "set\\(\"[a-z0-9.]+\", [A-Za-z0-9_]+" dice_sets "${dice_sets}")
set(dice_instructions "")
foreach(dice_set IN LISTS dice_sets)
  string(REGEX MATCH "\"(.+)\", (.+)" dice_set "${dice_set}")
  set(dice_set "${CMAKE_MATCH_1}")
  if(TARGET dice::openmp AND dice_macros MATCHES "#define ${CMAKE_MATCH_2} [0-9]")
    list(APPEND dice_instructions "${dice_set}")
  endif()
endforeach()
set_property(GLOBAL PROPERTY DICE_INSTRUCTIONS "${dice_instructions}")
# Macros that depend on optimisation or do not matter are left out; sorted, since their order depends on the folder's name.
string(REGEX REPLACE "#define (__OPTIMIZE__|__OPTIMIZE_SIZE__|__NO_INLINE__|__USE_EXTERN_INLINES|__USE_FORTIFY_LEVEL|_FORTIFY_SOURCE|NDEBUG)[^\n]*\n"
  "" dice_macros "${dice_macros}")
string(REGEX REPLACE "[][;]" "." dice_macros "${dice_macros}")
string(REPLACE "\n" ";" dice_macros "${dice_macros}")
list(SORT dice_macros)
string(SHA1 dice_macros "${dice_macros} ${Boost_VERSION_STRING} ${xtensor_VERSION} ${MPI_CXX_INCLUDE_DIRS}")
string(SUBSTRING "${dice_macros}" 0 8 dice_macros)
set(dice_library_id "${DICE_BOARD}_${dice_macros}")
foreach(part IN ITEMS ${dice_backends} mpi pictures)
  if(TARGET dice::${part})
    string(APPEND dice_library_id "_${part}")
  endif()
endforeach()
string(MAKE_C_IDENTIFIER "${dice_library_id}" dice_library_id)
string(REGEX REPLACE "^_+" "" dice_library_id "${dice_library_id}")

# A project without a build type, or with one that does not optimise, must not have kernels that take thirty times as long.
# In dice's own builds the build type decides (Debug: not optimised).
set(dice_always_optimised OFF)
if(DICE_LIBRARY_OPTIMISED AND (DICE_IS_INSTALLED OR NOT PROJECT_IS_TOP_LEVEL))
  set(dice_always_optimised ON)
endif()

# Common settings of the library's targets.
function(dice_compiled_once target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(DICE_LIBRARY_OPTIMISED)
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # in one file, the compiler might inline less of each kernel
  endif()
  target_link_libraries(${target} PUBLIC dice::core PRIVATE Threads::Threads)
  target_compile_definitions(${target} PRIVATE DICE_LIBRARY=${dice_library_id})
  # Sections, so that a program links only what it calls.
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
  if(DICE_IS_INSTALLED OR NOT PROJECT_IS_TOP_LEVEL)
    # Compiled when a target needs it, and without the warnings that the project's own flags may cause.
    if(DICE_IS_INSTALLED OR NOT DICE_INSTALL)
      set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    target_compile_options(${target} PRIVATE -w)
  endif()
  if(dice_always_optimised)
    target_compile_options(${target} PRIVATE -O3)  # after the flags of the build type
  endif()
endfunction()

# dice_find_binutils(): sets DICE_LD, DICE_NM and DICE_OBJCOPY, GNU binutils that belong to the compiler; its linker may be another.
function(dice_find_binutils)
  foreach(program IN ITEMS ld.bfd nm objcopy)
    string(REPLACE ".bfd" "" tool ${program})
    string(TOUPPER DICE_${tool} variable)
    if(NOT ${variable})
      execute_process(COMMAND "${CMAKE_CXX_COMPILER}" ${CMAKE_CXX_COMPILER_ARG1} ${dice_flags} -print-prog-name=${program}
        OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
      set(${variable} "${found}" CACHE STRING "GNU ${tool}, which makes one object file of kernels")
      mark_as_advanced(${variable})
    endif()
    execute_process(COMMAND "${${variable}}" --version OUTPUT_VARIABLE found ERROR_QUIET)
    if(NOT found MATCHES "^GNU ")
      message(FATAL_ERROR "dice: '${${variable}}' is not GNU ${tool}, which the library's kernels need: install GNU binutils, or "
                          "name it with -D${variable}=PATH")
    endif()
  endforeach()
endfunction()

# dice_add_kernels(LIBRARY NUMBER BOARD): adds the OpenMP kernels, compiled for BOARD, to LIBRARY as its level NUMBER.
function(dice_add_kernels library number board)
  set(kernels ${library}_kernels_${number})
  list(TRANSFORM dice_openmp_SOURCES REPLACE "(.+)" "${DICE_SOURCE_DIR}/\\1.cpp" OUTPUT_VARIABLE sources)
  add_library(${kernels} OBJECT ${sources})
  dice_compiled_once(${kernels})
  set_target_properties(${kernels} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  set(DICE_BOARD "${board}")
  dice_board_flags(flags)
  target_link_libraries(${kernels} PRIVATE ${dice_openmp_LINK})
  target_compile_definitions(${kernels} PRIVATE ${dice_openmp_definition} DICE_LEVELS=${dice_level_count} DICE_LEVEL=${number}
    "DICE_LEVEL_NAME=\"${board}\"")
  target_compile_options(${kernels} PRIVATE ${flags} -fno-lto)
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${kernels}.o")
  if(multi_config)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/$<CONFIG>/${kernels}.o")
  endif()
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/DiceKernels.cmake")
  add_custom_command(OUTPUT "${object}"
    COMMAND "${CMAKE_COMMAND}" "-DOBJECTS=$<TARGET_OBJECTS:${kernels}>" -DNUMBER=${number} "-DTO=${object}" "-DLD=${DICE_LD}"
            "-DNM=${DICE_NM}" "-DOBJCOPY=${DICE_OBJCOPY}" -P "${script}"
    DEPENDS $<TARGET_OBJECTS:${kernels}> "${script}" COMMENT "Kernels for ${board}" VERBATIM)
  target_sources(${library} PRIVATE "${object}")
  add_dependencies(${library} ${kernels})
endfunction()

if(DICE_IS_INSTALLED AND dice_library_id STREQUAL "${DICE_INSTALLED_LIBRARY_ID}" AND EXISTS "${DICE_INSTALLED_LIBRARY}")
  add_library(dice_library STATIC IMPORTED GLOBAL)
  set_target_properties(dice_library PROPERTIES IMPORTED_LOCATION "${DICE_INSTALLED_LIBRARY}")
  target_link_libraries(dice_library INTERFACE dice::core)
  set(dice_has_library "installed")
else()
  set(dice_sources cluster_model cpu_level decode reference remap run stream_job team)
  set(dice_transports in_process)
  if(TARGET dice::mpi)
    list(APPEND dice_transports mpi)
  endif()
  list(APPEND dice_sources ${dice_transports})
  set(dice_levels "")
  if(TARGET dice::openmp)
    dice_board_levels(dice_levels)
    dice_find_binutils()
  endif()
  list(LENGTH dice_levels dice_level_count)
  if(dice_level_count GREATER 1)
    list(APPEND dice_sources openmp_levels)
  endif()
  list(TRANSFORM dice_sources REPLACE "(.+)" "${DICE_SOURCE_DIR}/\\1.cpp")
  # Everything but kernels: compiles in a quarter less time than with -O3, and digits runs as fast. Plans of other mappings
  # are made once, so their code is small instead: 100 KB less in each program. The command line, the largest source, compiles
  # in a third less time with -O1.
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(dice_always_optimised OR multi_config OR CMAKE_BUILD_TYPE STREQUAL "Release")  # sources with options are in no unity build
    foreach(source IN ITEMS cluster_model remap run stream_job ${dice_transports})
      set(dice_level -O2)
      if(source STREQUAL "remap")
        set(dice_level -Os)
      elseif(source STREQUAL "run")
        set(dice_level -O1)
      endif()
      set_source_files_properties("${DICE_SOURCE_DIR}/${source}.cpp" PROPERTIES COMPILE_OPTIONS
        "$<$<OR:$<CONFIG:Release>,$<BOOL:${dice_always_optimised}>>:${dice_level}>")
    endforeach()
  endif()
  add_library(dice_library STATIC ${dice_sources})
  set_target_properties(dice_library PROPERTIES OUTPUT_NAME dice)
  dice_compiled_once(dice_library)
  # All that dice::openmp has but the flags of the board: only kernels are compiled for it (DiceKernels.cmake).
  set(dice_other_parts ${dice_parts})
  list(REMOVE_ITEM dice_other_parts dice::openmp)
  target_link_libraries(dice_library PRIVATE ${dice_other_parts} ${dice_openmp_LINK} xtensor)
  target_compile_definitions(dice_library PRIVATE ${dice_openmp_definition} DICE_LEVELS=${dice_level_count})
  set(dice_level 0)
  foreach(board IN LISTS dice_levels)
    dice_add_kernels(dice_library ${dice_level} "${board}")
    math(EXPR dice_level "${dice_level} + 1")
  endforeach()
  set(dice_has_library "compiled here")
  if(dice_level_count GREATER 1)
    list(JOIN dice_levels ", " dice_levels)
    string(APPEND dice_has_library " with kernels for ${dice_levels}")
  endif()
endif()

# What programs need from it: which backends it has and what it links, but not how it is compiled.
dice_add_interface(dice)
target_link_libraries(${target} INTERFACE dice_library Threads::Threads xtensor)
target_compile_definitions(${target} INTERFACE DICE_LIBRARY=${dice_library_id})
set_target_properties(${target} PROPERTIES INTERFACE_DICE_FORM library COMPATIBLE_INTERFACE_STRING DICE_FORM)
foreach(backend IN LISTS dice_backends)
  foreach(linked IN LISTS dice_${backend}_LINK)
    target_link_libraries(${target} INTERFACE "$<LINK_ONLY:${linked}>")
  endforeach()
  target_compile_definitions(${target} INTERFACE ${dice_${backend}_definition})
endforeach()
if(TARGET dice::mpi)
  target_link_libraries(${target} INTERFACE "$<LINK_ONLY:Boost::mpi>" "$<LINK_ONLY:Boost::serialization>" MPI::MPI_CXX)
  target_compile_definitions(${target} INTERFACE DICE_WITH_MPI)
endif()
if(TARGET dice::pictures)
  target_link_libraries(${target} INTERFACE "${DICE_STB_LIBRARY}")
endif()
if(NOT APPLE)
  target_link_options(${target} INTERFACE "LINKER:--gc-sections")
endif()
