# triescope::torch: libtorch_cpu and libc10 of a libtorch folder (include/, lib/), as imported targets of our own.
#
# The wheel's own TorchConfig.cmake insists on a CUDA toolkit even for programs that only use the CPU. One binary serves CPU and
# CUDA here: libtorch_cuda.so is opened at run time when a CUDA device is asked for, so nothing links it.
# Used by the build and by an installed triescope (find_package). Input: TRIESCOPE_TORCH_DIR, libtorch with its headers; or
# TRIESCOPE_TORCH_LIB, its libraries alone, which is enough to link core: no public header of core includes one of libtorch.
if(TARGET triescope::torch)
  return()
endif()

set(_torch_lib "${TRIESCOPE_TORCH_LIB}")
set(_torch_include "")
set(_torch_files "")
if(NOT _torch_lib)
  set(_torch_lib "${TRIESCOPE_TORCH_DIR}/lib")
  set(_torch_include "${TRIESCOPE_TORCH_DIR}/include;${TRIESCOPE_TORCH_DIR}/include/torch/csrc/api/include")
  set(_torch_files "${TRIESCOPE_TORCH_DIR}/include/ATen/ATen.h")
endif()
foreach(_file ${_torch_files} "${_torch_lib}/libtorch_cpu.so" "${_torch_lib}/libc10.so")
  if(NOT EXISTS "${_file}")
    message(FATAL_ERROR "libtorch: expected ${_file}, which does not exist. "
        "Run scripts/setup, or name a libtorch folder: -DTRIESCOPE_TORCH_DIR=/path/to/torch")
  endif()
endforeach()

add_library(triescope::c10 SHARED IMPORTED)
set_target_properties(triescope::c10 PROPERTIES IMPORTED_LOCATION "${_torch_lib}/libc10.so")
add_library(triescope::torch_cpu SHARED IMPORTED)
set_target_properties(triescope::torch_cpu PROPERTIES IMPORTED_LOCATION "${_torch_lib}/libtorch_cpu.so")

add_library(triescope::torch INTERFACE IMPORTED)
set_target_properties(triescope::torch PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_torch_include}"
    # libtorch's headers then include the operations that they need, not all (core/kernels/aten.h).
    INTERFACE_COMPILE_DEFINITIONS AT_PER_OPERATOR_HEADERS
    INTERFACE_LINK_LIBRARIES "triescope::torch_cpu;triescope::c10")
