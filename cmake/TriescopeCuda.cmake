# TRIESCOPE_NVCC: where CUDA sources are compiled at all. Looked for in CUDACXX, PATH, /usr/local/cuda and the project's venv.
# nvcc is called as a program (not as a CMake language): the venv's toolkit is in parts and without stub libraries, which
# CMake's own compiler check does not accept, and the kernels need no more than a compiler and the static runtime.
set(TRIESCOPE_NVCC "")
if(NOT TRIESCOPE_CUDA STREQUAL "OFF")
  file(GLOB _venv_cuda "${PROJECT_SOURCE_DIR}/.deps/venv/lib/python3*/site-packages/nvidia/cu13/bin"
       "${PROJECT_SOURCE_DIR}/.deps/cuda/lib/python3*/site-packages/nvidia/cu13/bin")
  find_program(TRIESCOPE_NVCC_PROGRAM nvcc HINTS ENV CUDACXX PATHS /usr/local/cuda/bin ${_venv_cuda})
  mark_as_advanced(TRIESCOPE_NVCC_PROGRAM)
  if(TRIESCOPE_NVCC_PROGRAM)
    get_filename_component(TRIESCOPE_NVCC "${TRIESCOPE_NVCC_PROGRAM}" REALPATH)
    message(STATUS "CUDA kernels: compiled with ${TRIESCOPE_NVCC}")
  elseif(TRIESCOPE_CUDA STREQUAL "AUTO")
    message(STATUS "CUDA kernels: not compiled (no nvcc found)")
  else()
    message(FATAL_ERROR "TRIESCOPE_CUDA is ON and no nvcc was found in PATH, /usr/local/cuda or .deps. "
        "Run scripts/setup, or set CUDACXX to an nvcc of CUDA 12 or newer.")
  endif()
endif()
set(TRIESCOPE_CUDA_ARCHITECTURES "80;90" CACHE STRING "GPU generations the kernels are compiled for (sm_XX); PTX of the last too")

# triescope_cuda_module(<target> OUTPUT <name> SOURCES <.cu files>): a shared module, cudart linked in statically, no torch.
function(triescope_cuda_module target)
  cmake_parse_arguments(ARG "" "OUTPUT" "SOURCES" ${ARGN})
  get_filename_component(bin "${TRIESCOPE_NVCC}" DIRECTORY)
  get_filename_component(toolkit "${bin}" DIRECTORY)
  set(flags -std=c++20 -O3 -Xcompiler=-fPIC,-Wall,-Wextra -I "${PROJECT_SOURCE_DIR}" --fmad=true
      -ccbin "${CMAKE_CXX_COMPILER}" --expt-relaxed-constexpr)
  if(TRIESCOPE_WERROR)
    list(APPEND flags -Xcompiler=-Werror --Werror=all-warnings)
  endif()
  foreach(arch IN LISTS TRIESCOPE_CUDA_ARCHITECTURES)
    list(APPEND flags "-gencode=arch=compute_${arch},code=sm_${arch}")
    set(last ${arch})
  endforeach()
  list(APPEND flags "-gencode=arch=compute_${last},code=compute_${last}")
  set(objects "")
  foreach(source IN LISTS ARG_SOURCES)
    file(RELATIVE_PATH relative "${PROJECT_SOURCE_DIR}" "${source}")
    set(object "${CMAKE_CURRENT_BINARY_DIR}/cuda/${relative}.o")
    get_filename_component(folder "${object}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(OUTPUT "${object}"
        COMMAND "${TRIESCOPE_NVCC}" ${flags} -MD -MF "${object}.d" -c "${source}" -o "${object}"
        DEPENDS "${source}" DEPFILE "${object}.d" COMMENT "nvcc ${relative}" VERBATIM)
    list(APPEND objects "${object}")
  endforeach()
  find_library(TRIESCOPE_CUDART_STATIC cudart_static HINTS "${toolkit}/lib64" "${toolkit}/lib" NO_DEFAULT_PATH)
  mark_as_advanced(TRIESCOPE_CUDART_STATIC)
  if(NOT TRIESCOPE_CUDART_STATIC)
    message(FATAL_ERROR "CUDA: no libcudart_static.a in ${toolkit}/lib64 or lib; install the CUDA runtime's development files")
  endif()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_library(${target} MODULE ${objects})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME "${ARG_OUTPUT}"
      LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_link_libraries(${target} PRIVATE "${TRIESCOPE_CUDART_STATIC}" Threads::Threads ${CMAKE_DL_LIBS} rt)
endfunction()
