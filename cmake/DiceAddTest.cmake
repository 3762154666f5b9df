# dice_add_test(NAME SOURCES a.cpp… [LIBS target…] [TIMEOUT seconds] [PROCESSORS n] [UNITY] [OPTIMISED] [OWN_OPTIONS])
#
# Adds a GoogleTest program to dice's own tests: linked with dice::core and LIBS, each case a ctest test. UNITY: the sources are
# compiled as one file, since most of the time goes into the headers that they share. OPTIMISED: compiled with -O1 in Release
# builds, since the tests take longer to run than to compile. OWN_OPTIONS: the target is compiled with options that others do not
# have, so it cannot share their precompiled header.
include_guard(GLOBAL)

find_package(GTest REQUIRED)  # Debian: libgtest-dev
include(GoogleTest)

add_library(dice_warnings INTERFACE)
target_compile_options(dice_warnings INTERFACE -Wall -Wextra -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(dice_warnings INTERFACE -Wno-restrict)  # wrong for "a" + std::string() (GCC bug 105651)
endif()

# For tests that link dice's library and also include its internal headers.
add_library(dice_internals INTERFACE)
target_link_libraries(dice_internals INTERFACE dice::dice ${dice_parts})

# GoogleTest's header is most of what a small test compiles: precompiled once for tests of headers, and once for those that
# link dice's library, with its options; each with and without optimisation.
function(dice_precompile_gtest name optimisation)
  get_target_property(libraries ${name} LINK_LIBRARIES)
  if("dice_internals" IN_LIST libraries)
    set(prelude dice_gtest_internals)
  elseif(libraries MATCHES "dice::(dice|openmp)")
    return()  # options of neither
  else()
    set(prelude dice_gtest)
  endif()
  set(internals $<$<STREQUAL:${prelude},dice_gtest_internals>:dice_internals>)
  string(MAKE_C_IDENTIFIER "${prelude}${optimisation}" prelude)
  if(NOT TARGET ${prelude})
    file(WRITE "${PROJECT_BINARY_DIR}/${prelude}.cpp" "")
    add_library(${prelude} OBJECT "${PROJECT_BINARY_DIR}/${prelude}.cpp")
    target_compile_options(${prelude} PRIVATE ${optimisation})
    target_link_libraries(${prelude} PRIVATE dice::core ${internals} dice_warnings GTest::gtest)
    target_precompile_headers(${prelude} PRIVATE <gtest/gtest.h>)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${prelude})
endfunction()

function(dice_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "UNITY;OPTIMISED;OWN_OPTIONS" "TIMEOUT;PROCESSORS" "SOURCES;LIBS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "dice_add_test(NAME SOURCES a.cpp… [LIBS target…] [TIMEOUT seconds] [PROCESSORS n] [UNITY] [OPTIMISED] [OWN_OPTIONS]): '${ARGN}'")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE dice::core ${arg_LIBS} dice_warnings GTest::gtest_main)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/test")
  if(arg_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
  set(optimisation "")
  if(arg_OPTIMISED AND CMAKE_BUILD_TYPE STREQUAL "Release")
    set(optimisation -O1)
    target_compile_options(${name} PRIVATE ${optimisation})
  endif()
  if(NOT arg_OWN_OPTIONS)
    dice_precompile_gtest(${name} "${optimisation}")
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS})
endfunction()
