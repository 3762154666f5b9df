# Run at build time: OUTPUT becomes a C++ file with the text of each script, scripts/NAME.sh or .pl, as dice_run::scripts::NAME.
file(GLOB scripts "${CMAKE_CURRENT_LIST_DIR}/scripts/*.sh" "${CMAKE_CURRENT_LIST_DIR}/scripts/*.pl")
set(text "#include \"scripts.hpp\"\n")
foreach(script IN LISTS scripts)
  get_filename_component(name "${script}" NAME_WE)
  file(READ "${script}" content)
  string(APPEND text "const char* const dice_run::scripts::${name} = R\"script(${content})script\";\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
