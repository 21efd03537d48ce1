# triescope::imgui: Dear ImGui 1.92 (docking branch) from the sources that scripts/setup unpacks, with its GLFW and OpenGL 3 backends
# and FreeType. Input: TRIESCOPE_IMGUI_DIR, a folder with imgui.cpp, backends/ and misc/; empty = .deps/imgui.
#
# The three definitions change Dear ImGui's types, so everything that includes its headers gets them:
#   ImDrawIdx=unsigned int    one panel may draw more than 65,536 vertices (16,384 letters)
#   IMGUI_USE_WCHAR32         characters beyond U+FFFF: emoji, rarer scripts
#   IMGUI_ENABLE_FREETYPE     hinted, sharp letters; colour glyphs
if(NOT TRIESCOPE_IMGUI_DIR)
  set(TRIESCOPE_IMGUI_DIR "${PROJECT_SOURCE_DIR}/.deps/imgui")
endif()
if(NOT EXISTS "${TRIESCOPE_IMGUI_DIR}/imgui.cpp")
  message(FATAL_ERROR "Dear ImGui: expected ${TRIESCOPE_IMGUI_DIR}/imgui.cpp, which does not exist. "
      "Run scripts/setup (or make build), or name a folder with Dear ImGui's docking branch: -DTRIESCOPE_IMGUI_DIR=/path/to/imgui")
endif()
file(STRINGS "${TRIESCOPE_IMGUI_DIR}/imgui.h" _version REGEX "#define IMGUI_VERSION_NUM")
string(REGEX MATCH "[0-9]+" _version "${_version}")
if(_version LESS 19280)
  message(FATAL_ERROR "Dear ImGui in ${TRIESCOPE_IMGUI_DIR} has version number ${_version}; expected 19280 (1.92.8) or newer, docking branch")
endif()

add_library(triescope_imgui STATIC
    "${TRIESCOPE_IMGUI_DIR}/imgui.cpp" "${TRIESCOPE_IMGUI_DIR}/imgui_draw.cpp" "${TRIESCOPE_IMGUI_DIR}/imgui_tables.cpp"
    "${TRIESCOPE_IMGUI_DIR}/imgui_widgets.cpp" "${TRIESCOPE_IMGUI_DIR}/imgui_stacklayout.cpp"
    "${TRIESCOPE_IMGUI_DIR}/misc/cpp/imgui_stdlib.cpp"
    "${TRIESCOPE_IMGUI_DIR}/misc/freetype/imgui_freetype.cpp" "${TRIESCOPE_IMGUI_DIR}/backends/imgui_impl_glfw.cpp"
    "${TRIESCOPE_IMGUI_DIR}/backends/imgui_impl_opengl3.cpp")
target_include_directories(triescope_imgui SYSTEM PUBLIC "${TRIESCOPE_IMGUI_DIR}" "${TRIESCOPE_IMGUI_DIR}/backends"
    "${TRIESCOPE_IMGUI_DIR}/misc/cpp" "${TRIESCOPE_IMGUI_DIR}/misc/freetype")
target_compile_definitions(triescope_imgui PUBLIC "ImDrawIdx=unsigned int" IMGUI_USE_WCHAR32 IMGUI_ENABLE_FREETYPE
    IMGUI_DISABLE_OBSOLETE_FUNCTIONS)
set_target_properties(triescope_imgui PROPERTIES UNITY_BUILD OFF)
target_compile_options(triescope_imgui PRIVATE -w)  # not ours to mend
target_link_libraries(triescope_imgui PUBLIC PkgConfig::FREETYPE glfw OpenGL::GL)
add_library(triescope::imgui ALIAS triescope_imgui)
