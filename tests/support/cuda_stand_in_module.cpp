// libtriescope_cuda.so without CUDA: the module's functions with the kernels' own source, run on
// the CPU over host memory (cuda_stand_in.h). With it the CUDA path's use of the kernels is tested
// where no GPU is. $TRIESCOPE_CUDA_STAND_IN_ERROR makes launches fail.
#include <cstdlib>
#include <cstring>

#include "tests/support/cuda_stand_in.h"
// After the stand-in: the kernels themselves.
#include "core/kernels/add_norm.cu"
#include "core/kernels/block_linear.cu"
#include "core/kernels/block_rows.cu"
#include "core/kernels/device.cuh"
#include "core/kernels/embed_norm.cu"
#include "core/kernels/gated_activation.cu"
#include "core/kernels/split_qkv.cu"
#include "core/kernels/tree_attention.cu"

// Of the stand-in alone: the kernels launched since the last call, a line each. Valid until the
// next call.
extern "C" const char* triescope_stand_in_launches(void) {
  static std::string told;
  told.clear();
  told.swap(cuda_stand_in::launches);
  cuda_stand_in::blocks.clear();
  return told.c_str();
}

extern "C" const char* triescope_cuda_error_string(int) { return "an error of the stand-in"; }
extern "C" int triescope_cuda_device_count(void) { return 0; }
extern "C" int triescope_cuda_allocate(void** pointer, size_t bytes) {
  *pointer = std::malloc(bytes);
  return *pointer == nullptr;
}
extern "C" int triescope_cuda_free(void* pointer) {
  std::free(pointer);
  return 0;
}
extern "C" int triescope_cuda_to_device(void* device, const void* host, size_t bytes) {
  std::memcpy(device, host, bytes);
  return 0;
}
extern "C" int triescope_cuda_to_host(void* host, const void* device, size_t bytes) {
  std::memcpy(host, device, bytes);
  return 0;
}
