# Everything triescope is built with, found once. What is missing is said with the package that brings it: scripts/setup installs all.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET GLOBAL libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET GLOBAL libutf8proc)
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET GLOBAL cairo cairo-svg cairo-pdf cairo-png)
pkg_check_modules(PANGO REQUIRED IMPORTED_TARGET GLOBAL pangocairo)

if(TRIESCOPE_GUI)
  set(OpenGL_GL_PREFERENCE GLVND)
  find_package(OpenGL REQUIRED)
  find_package(glfw3 3.3 REQUIRED)
  pkg_check_modules(FONTCONFIG REQUIRED IMPORTED_TARGET GLOBAL fontconfig)
  pkg_check_modules(IMGUI REQUIRED IMPORTED_TARGET GLOBAL imgui>=1.86)
  # For imgui_impl_*.h; the archive libimgui.a holds both backends.
  find_path(TRIESCOPE_IMGUI_BACKENDS imgui_impl_opengl3.h HINTS ${IMGUI_INCLUDE_DIRS} PATH_SUFFIXES backends REQUIRED)
endif()

if(TRIESCOPE_TESTS)
  find_package(doctest REQUIRED)
  find_package(benchmark QUIET)
endif()

if(NOT TRIESCOPE_TORCH_DIR)
  file(GLOB _found "${PROJECT_SOURCE_DIR}/.deps/venv/lib/python3*/site-packages/torch")
  if(NOT _found)
    message(FATAL_ERROR "libtorch: nothing in ${PROJECT_SOURCE_DIR}/.deps/venv. "
        "Run scripts/setup (or make build), or name a libtorch folder: -DTRIESCOPE_TORCH_DIR=/path/to/torch")
  endif()
  list(GET _found 0 TRIESCOPE_TORCH_DIR)
endif()
include(TriescopeTorch)
message(STATUS "libtorch: ${TRIESCOPE_TORCH_DIR}")
