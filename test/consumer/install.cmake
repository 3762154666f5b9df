# cmake -DBUILD=… -DPREFIX=… -DHEADERS=… -P install.cmake: installs the build elsewhere, moves the installation to PREFIX,
# and checks that it has all headers below HEADERS.
file(REMOVE_RECURSE "${PREFIX}" "${PREFIX}.first")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}.first"
  COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${PREFIX}.first" "${PREFIX}")
file(GLOB_RECURSE have RELATIVE "${PREFIX}/include" "${PREFIX}/include/*")
file(GLOB_RECURSE want RELATIVE "${HEADERS}" "${HEADERS}/*")
if(NOT have STREQUAL want)
  list(REMOVE_ITEM want ${have})
  message(FATAL_ERROR "Not installed: ${want}")
endif()
