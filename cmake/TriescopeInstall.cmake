# cmake --install: the program, and core for other CMake projects:
#   find_package(triescope REQUIRED)   then link   triescope::core   or, without torch,   triescope::capture
# Components: `development` (static libraries, headers, package files), `runtime` (the program and its CUDA module) and `libraries`
# (libtorch and what else comes along, which both use).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/triescope")
set(include_dir "${CMAKE_INSTALL_INCLUDEDIR}/triescope")  # as in triescope_library()

install(TARGETS triescope_base triescope_capture triescope_doctor triescope_files triescope_jinja triescope_tokenizer triescope_kernels triescope_kernels_torch
        triescope_model triescope_doctor_model triescope_session triescope_heads triescope_core
    EXPORT triescope_targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(EXPORT triescope_targets NAMESPACE triescope:: FILE triescope-targets.cmake
    DESTINATION "${package_dir}" COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/core" DESTINATION "${include_dir}" COMPONENT development
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/triescope-config.cmake.in"
    "${PROJECT_BINARY_DIR}/triescope-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/triescope-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/triescope-config.cmake" "${PROJECT_BINARY_DIR}/triescope-config-version.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/TriescopeTorch.cmake"
    DESTINATION "${package_dir}" COMPONENT development)

# Where nothing is installed but the program, its libraries lie in a folder of their own, found from where the program is.
set(library_dir "lib/triescope")
file(GLOB libraries "${TRIESCOPE_TORCH_DIR}/lib/libtorch_cpu.so" "${TRIESCOPE_TORCH_DIR}/lib/libc10.so"
    "${TRIESCOPE_TORCH_DIR}/lib/libgomp.so*" "${TRIESCOPE_TORCH_DIR}/../nvidia/cu*/lib/libcupti.so.*"
    "${TRIESCOPE_TORCH_DIR}/../nvidia/cu*/lib/libcudart.so.*")
install(FILES ${libraries} DESTINATION "${library_dir}" COMPONENT libraries)
# Debian 12 has libutf8proc2, Ubuntu 24.04 libutf8proc3.
find_library(TRIESCOPE_UTF8PROC_LIBRARY utf8proc)
mark_as_advanced(TRIESCOPE_UTF8PROC_LIBRARY)
if(TRIESCOPE_UTF8PROC_LIBRARY MATCHES "\\.so$")
  get_filename_component(real "${TRIESCOPE_UTF8PROC_LIBRARY}" REALPATH)
  string(REGEX MATCH "[^/]*\\.so\\.[0-9]+" soname "${real}")
  install(FILES "${real}" RENAME "${soname}" DESTINATION "${library_dir}" COMPONENT libraries)
endif()
file(GLOB licences "${TRIESCOPE_TORCH_DIR}/../torch-*.dist-info/licenses/LICENSE"
    "${TRIESCOPE_TORCH_DIR}/../nvidia_cuda_cupti*.dist-info/licenses/License.txt")
foreach(licence IN LISTS licences)
  string(REGEX MATCH "(torch|nvidia_cuda_cupti)-[^/]*\\.dist-info" owner "${licence}")
  string(REGEX REPLACE "-[^/]*$" "" owner "${owner}")
  install(FILES "${licence}" RENAME "LICENSE.${owner}" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/triescope" COMPONENT libraries)
endforeach()

if(TARGET triescope)
  set_target_properties(triescope PROPERTIES INSTALL_RPATH "$ORIGIN/../${library_dir}")
  install(TARGETS triescope RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
  # What drafts for the model of `make run`; app/session/catalog.cpp finds it there.
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/assets/draft" DESTINATION "${CMAKE_INSTALL_DATADIR}/triescope" COMPONENT runtime)
  install(FILES "${PROJECT_SOURCE_DIR}/assets/desktop/triescope.desktop" DESTINATION "${CMAKE_INSTALL_DATADIR}/applications" COMPONENT runtime)
  install(FILES "${PROJECT_SOURCE_DIR}/assets/desktop/triescope.svg"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps" COMPONENT runtime)
  install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${PROJECT_SOURCE_DIR}/docs/third_party.md"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/triescope" COMPONENT runtime)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" RENAME copyright DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/triescope" COMPONENT runtime)
endif()
if(TARGET triescope_kernels_cuda)
  install(TARGETS triescope_kernels_cuda LIBRARY DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
endif()
include(TriescopePackage)
