# dice for a separate project that a script of bench/ configures: without tests, examples, benchmarks and installation.
foreach(part IN ITEMS BUILD_TESTS BUILD_EXAMPLES BUILD_BENCH INSTALL)
  set(DICE_${part} OFF)
endforeach()
add_subdirectory("${CMAKE_CURRENT_LIST_DIR}/.." dice)
