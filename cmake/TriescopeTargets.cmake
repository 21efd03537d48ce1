# triescope_unity_groups(<name> <size> INCLUDE|EXCLUDE <regex> <files...>): those of the files whose path matches, or does not, are compiled
# in groups of this size.
function(triescope_unity_groups name size filter regex)
  set(sources ${ARGN})
  list(FILTER sources ${filter} REGEX "${regex}")
  set(count 0)
  foreach(source IN LISTS sources)
    math(EXPR number "${count} / ${size}")
    math(EXPR count "${count} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${name}_${number})
  endforeach()
endfunction()

# triescope_library(<area> SOURCES <files...> DEPS <targets...> [PRIVATE_DEPS <targets...>] [PCH <target>|NONE] [LIGHT <regex>])
# Makes the static library triescope_<area> and its alias triescope::<area>. Include root: the project's folder, so that an
# include reads "core/tree/token_tree.h" everywhere. Without sources it is an INTERFACE library with the same dependencies.
# PCH names the target whose precompiled header the sources read first; triescope_std_pch where nothing else is said.
# LIGHT: sources whose path matches are compiled in groups of 16, not of 8. They take little time, and most of it goes into headers.

function(triescope_library area)
  cmake_parse_arguments(ARG "" "PCH;LIGHT" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  set(target triescope_${area})
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    if(ARG_LIGHT AND TRIESCOPE_UNITY)
      set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
      triescope_unity_groups(light 16 INCLUDE "${ARG_LIGHT}" ${ARG_SOURCES})
      triescope_unity_groups(group 8 EXCLUDE "${ARG_LIGHT}" ${ARG_SOURCES})
    endif()
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/triescope>)
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_link_libraries(${target} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
    target_compile_definitions(${target} PRIVATE TRIESCOPE_VERSION="${PROJECT_VERSION}")
    if(NOT ARG_PCH)
      set(ARG_PCH triescope_std_pch)
    endif()
    if(TARGET ${ARG_PCH})
      target_precompile_headers(${target} REUSE_FROM ${ARG_PCH})
    elseif(TARGET triescope_std_pch AND NOT ARG_PCH STREQUAL "NONE")
      message(FATAL_ERROR "triescope_library(${area}): PCH: expected a target that is there, or NONE; found ${ARG_PCH}")
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/triescope>)
    target_compile_features(${target} INTERFACE cxx_std_20)
    target_link_libraries(${target} INTERFACE ${ARG_DEPS})
  endif()
  add_library(triescope::${area} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${area})
endfunction()

# triescope_sources(<out> <folder> [RECURSE] [EXCLUDE <regex>]): the *.cpp of a folder, without those whose path matches.
function(triescope_sources out folder)
  cmake_parse_arguments(ARG "RECURSE" "EXCLUDE" "" ${ARGN})
  if(ARG_RECURSE)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS "${folder}/*.cpp")
  else()
    file(GLOB files CONFIGURE_DEPENDS "${folder}/*.cpp")
  endif()
  if(ARG_EXCLUDE AND files)
    list(FILTER files EXCLUDE REGEX "${ARG_EXCLUDE}")
  endif()
  list(SORT files)
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# What most sources read of other projects. Builds with a sanitizer and those of clang go without, so that a file that leaves out an
# include does not pass everywhere.
if(NOT TRIESCOPE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_library(triescope_std_pch OBJECT "${PROJECT_SOURCE_DIR}/cmake/pch.cpp")
  target_link_libraries(triescope_std_pch PRIVATE nlohmann_json::nlohmann_json)
  target_precompile_headers(triescope_std_pch PRIVATE <algorithm> <charconv> <cmath> <filesystem> <functional> <iostream> <map> <memory>
      <optional> <set> <span> <sstream> <string> <unordered_map> <utility> <vector> <nlohmann/json.hpp>)
endif()
