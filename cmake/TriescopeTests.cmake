# A test that takes longer hangs; a sanitizer makes what computes sixty times slower.
set(TRIESCOPE_TEST_SECONDS 900)
if(TRIESCOPE_SANITIZE)
  set(TRIESCOPE_TEST_SECONDS 9000)
endif()

# triescope_tests(<area> <folder> <libraries...>): the program test_<area> of the folder's *.cpp; nothing where there are none.
function(triescope_tests area folder)
  triescope_sources(sources ${CMAKE_CURRENT_SOURCE_DIR}/${folder} RECURSE)
  if(NOT sources)
    return()
  endif()
  set(target test_${area})
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE triescope_test_support ${ARGN})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/bin")
  if(TARGET triescope_test_pch AND area IN_LIST TRIESCOPE_PLAIN_TESTS)
    target_compile_options(${target} PRIVATE -O0)
    target_precompile_headers(${target} REUSE_FROM triescope_test_pch)
  endif()
  add_dependencies(${target} run_case)
  if(TRIESCOPE_SANITIZE OR area IN_LIST TRIESCOPE_PLAIN_TESTS)
    # The libraries go first: of a function of the standard library that they and a test hold, the linker keeps the first, and theirs is
    # optimised.
    triescope_archives(archives ${ARGN})
    target_link_options(${target} PRIVATE "LINKER:--whole-archive" ${archives} "LINKER:--no-whole-archive")
  endif()
  if(TARGET triescope_kernels_cuda)
    add_dependencies(${target} triescope_kernels_cuda)
  endif()
  if(TARGET triescope AND area MATCHES "^(app|gui|contract)$")
    add_dependencies(${target} triescope)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/DiscoverCases.cmake")
  # The list of cases is read from the program after each link, so ctest never runs an old list.
  set(list "${CMAKE_CURRENT_BINARY_DIR}/${target}_cases.cmake")
  set(include "${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake")
  add_custom_command(TARGET ${target} POST_BUILD
      COMMAND "${CMAKE_COMMAND}" -D "PROGRAM=$<TARGET_FILE:${target}>" -D "RUNNER=$<TARGET_FILE:run_case>" -D "AREA=${area}" -D "OUT=${list}" -D "TIMEOUT=${TRIESCOPE_TEST_SECONDS}"
              -D "CACHE=${PROJECT_BINARY_DIR}/tests/cache" -P "${PROJECT_SOURCE_DIR}/cmake/DiscoverCases.cmake"
      BYPRODUCTS "${list}" VERBATIM)
  file(WRITE "${include}" "if(EXISTS \"${list}\")\n  include(\"${list}\")\nelse()\n"
      "  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include}")
endfunction()

# triescope_archives(<out> <targets...>): the files of this project's static libraries that the targets need, themselves included.
function(triescope_archives out)
  set(seen "")
  set(files "")
  set(todo ${ARGN})
  while(todo)
    list(POP_FRONT todo target)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" target "${target}")
    if(NOT target MATCHES "^triescope_" OR NOT TARGET ${target} OR target IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${target})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND files "$<TARGET_FILE:${target}>")
    endif()
    get_target_property(needs ${target} INTERFACE_LINK_LIBRARIES)
    if(needs)
      list(APPEND todo ${needs})
    endif()
  endwhile()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# triescope_script_tests(<folder>): every *.sh of the folder.
function(triescope_script_tests folder)
  file(GLOB scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.sh")
  foreach(script IN LISTS scripts)
    get_filename_component(name "${script}" NAME_WE)
    if(name MATCHES "^_|^lib$")  # helpers that the others source
      continue()
    endif()
    add_test(NAME "${folder}/${name}" COMMAND bash "${script}" WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties("${folder}/${name}" PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${TRIESCOPE_TEST_SECONDS} LABELS ${folder}
        ENVIRONMENT "TRIESCOPE=${PROJECT_BINARY_DIR}/triescope;TRIESCOPE_SOURCE=${PROJECT_SOURCE_DIR}")
  endforeach()
endfunction()
