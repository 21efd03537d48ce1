# cmake --install: the program, and core for other CMake projects:
#   find_package(triescope REQUIRED)   then link   triescope::core   or, without torch,   triescope::capture
# Components: `development` (static libraries, headers, package files) and `runtime` (the program and its CUDA module).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/triescope")
set(include_dir "${CMAKE_INSTALL_INCLUDEDIR}/triescope")  # as in triescope_library()

install(TARGETS triescope_base triescope_capture triescope_formats triescope_jinja triescope_tokenizer triescope_kernels triescope_kernels_torch
        triescope_model triescope_decode triescope_heads triescope_core
    EXPORT triescope_targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(EXPORT triescope_targets NAMESPACE triescope:: FILE triescope-targets.cmake
    DESTINATION "${package_dir}" COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/core" DESTINATION "${include_dir}" COMPONENT development
    FILES_MATCHING PATTERN "*.h")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/triescope-config.cmake.in"
    "${PROJECT_BINARY_DIR}/triescope-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/triescope-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/triescope-config.cmake" "${PROJECT_BINARY_DIR}/triescope-config-version.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/TriescopeTorch.cmake"
    DESTINATION "${package_dir}" COMPONENT development)

if(TARGET triescope)
  # libtorch stays where set-up put it; the CUDA module lies beside the program.
  set_target_properties(triescope PROPERTIES INSTALL_RPATH "${TRIESCOPE_TORCH_DIR}/lib")
  install(TARGETS triescope RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
  # What drafts for the model of `make run`; app/run/catalog.cpp finds it there.
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/assets/draft" DESTINATION "${CMAKE_INSTALL_DATADIR}/triescope" COMPONENT runtime)
endif()
if(TARGET triescope_kernels_cuda)
  install(TARGETS triescope_kernels_cuda LIBRARY DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
endif()
