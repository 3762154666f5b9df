# cmake --install: headers, the library and its sources, files for CMake and pkg-config, onnx2hpp, licence.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(dice_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dice")
set(DICE_INSTALLED_SOURCES "${CMAKE_INSTALL_DATADIR}/dice/src")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/diceConfig.cmake.in" "${PROJECT_BINARY_DIR}/diceConfig.cmake"
  INSTALL_DESTINATION "${dice_package_dir}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_DOCDIR DICE_INSTALLED_SOURCES)
# The library is for the board of its build; its sources and the headers are for every architecture. Before 1.0, a new minor
# version may break programs.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/diceConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

foreach(part IN ITEMS core ${dice_backends} cudnn_headers mpi dice)
  set(target dice_${part})
  if(TARGET ${target})
    get_target_property(sets ${target} INTERFACE_HEADER_SETS)
    list(TRANSFORM sets REPLACE "(.+)" "FILE_SET;\\1;DESTINATION;${CMAKE_INSTALL_INCLUDEDIR}")
    install(TARGETS ${target} ${sets})
  endif()
endforeach()
install(FILES
  "${PROJECT_BINARY_DIR}/diceConfig.cmake"
  "${PROJECT_BINARY_DIR}/diceConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/DiceTargets.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/DiceBoard.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/DiceLibrary.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/DiceKernels.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/DiceCuda.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/aarch64-linux-gnu.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/DiceAddNetwork.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/DicePack.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/DiceDeployment.cmake"
  "${PROJECT_SOURCE_DIR}/scripts/packages.txt"
  DESTINATION "${dice_package_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmake/deployment" DESTINATION "${dice_package_dir}")
install(PROGRAMS "${PROJECT_SOURCE_DIR}/scripts/sysroot" DESTINATION "${dice_package_dir}")
install(TARGETS dice_library ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(TARGET dice_gpu)
  install(TARGETS dice_gpu ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
# For programs built for another board, or with CUDA if dice was built without.
install(DIRECTORY "${DICE_SOURCE_DIR}/" DESTINATION "${DICE_INSTALLED_SOURCES}" FILES_MATCHING PATTERN "*.cpp")
install(DIRECTORY "${DICE_INCLUDE_DIR}/dice/kernels/cudnn/cuda" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/dice/kernels/cudnn"
  FILES_MATCHING PATTERN "*.cu" PATTERN "*.cuh")
if(TARGET dice_cuda_kernels)
  # Part of `all` whether or not a program here links them: an installed dice has them for machines without nvcc.
  set_property(TARGET dice_cuda_kernels PROPERTY EXCLUDE_FROM_ALL OFF)
  install(FILES "${dice_cuda_library}" DESTINATION "${dice_package_dir}")
endif()
set(testbed "${PROJECT_SOURCE_DIR}/tools/testbed")
install(PROGRAMS "${testbed}/dice-testbed" "${testbed}/try" "${testbed}/selftest.sh" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/dice")
install(FILES "${testbed}/wire.c" "${testbed}/pingpong.c" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/dice")
install(CODE "file(RELATIVE_PATH from \"/${CMAKE_INSTALL_BINDIR}\" \"/${CMAKE_INSTALL_LIBEXECDIR}/dice/dice-testbed\")
  set(to \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  file(MAKE_DIRECTORY \"\${to}\")
  file(CREATE_LINK \"\${from}\" \"\${to}/dice-testbed\" SYMBOLIC)")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(TARGET dice-run)
  install(TARGETS dice-run RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
if(TARGET onnx2hpp)
  install(TARGETS onnx2hpp EXPORT diceTools RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(EXPORT diceTools NAMESPACE dice:: FILE diceTools.cmake DESTINATION "${dice_package_dir}")
endif()
include("${PROJECT_SOURCE_DIR}/cmake/DicePkgConfig.cmake")
