# TRIESCOPE_KIT: a folder with include/ and lib/, packed by `scripts/gpu_check pack`: what core and its tests need of other projects,
# for a machine without those packages and without network. viz, app and the window are left out.
# The targets have the names that TriescopeDependencies gives them.

find_package(Threads REQUIRED)

function(triescope_kit_library target header library)
  foreach(file "include/${header}" "lib/${library}")
    if(NOT EXISTS "${TRIESCOPE_KIT}/${file}")
      message(FATAL_ERROR "TRIESCOPE_KIT: expected ${TRIESCOPE_KIT}/${file}, which does not exist. "
          "`scripts/gpu_check pack` makes such a folder on a machine where scripts/setup has run")
    endif()
  endforeach()
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${TRIESCOPE_KIT}/lib/${library}"
      INTERFACE_INCLUDE_DIRECTORIES "${TRIESCOPE_KIT}/include" INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endfunction()
triescope_kit_library(SQLite::SQLite3 sqlite3.h libsqlite3.a)
triescope_kit_library(PkgConfig::PCRE2 pcre2.h libpcre2-8.a)
triescope_kit_library(PkgConfig::UTF8PROC utf8proc.h libutf8proc.a)
foreach(target nlohmann_json::nlohmann_json doctest::doctest)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${TRIESCOPE_KIT}/include")
endforeach()

if(NOT TRIESCOPE_TORCH_DIR)
  message(FATAL_ERROR "TRIESCOPE_KIT: name the libtorch folder too: -DTRIESCOPE_TORCH_DIR=/path/to/torch")
endif()
include(TriescopeTorch)
