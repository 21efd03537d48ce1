// libtriescope_cuda.so without CUDA: the module's functions with the kernels' own source, run on
// the CPU over host memory (cuda_stand_in.h). With it the CUDA path's use of the kernels is tested
// where no GPU is. $TRIESCOPE_CUDA_STAND_IN_ERROR makes launches fail;
// $TRIESCOPE_CUDA_STAND_IN_WRONG, "add_norm" or "add_norm 500", makes the first number of that launcher's
// result 1 or 500 larger ("row_summary": log_sum, "row_summary_values": values).
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/support/cuda_stand_in.h"
// After the stand-in: the kernels themselves, their launchers under other names.
#define triescope_cuda_add_norm right_add_norm
#define triescope_cuda_block_linear right_block_linear
#define triescope_cuda_block_rows right_block_rows
#define triescope_cuda_embed_norm right_embed_norm
#define triescope_cuda_gated_activation right_gated_activation
#define triescope_cuda_row_summary right_row_summary
#define triescope_cuda_split_qkv right_split_qkv
#define triescope_cuda_tree_attention right_tree_attention
#include "core/kernels/add_norm.cu"
#include "core/kernels/block_linear.cu"
#include "core/kernels/block_rows.cu"
#include "core/kernels/device.cuh"
#include "core/kernels/embed_norm.cu"
#include "core/kernels/gated_activation.cu"
#include "core/kernels/row_summary.cu"
#include "core/kernels/split_qkv.cu"
#include "core/kernels/tree_attention.cu"
#undef triescope_cuda_add_norm
#undef triescope_cuda_block_linear
#undef triescope_cuda_block_rows
#undef triescope_cuda_embed_norm
#undef triescope_cuda_gated_activation
#undef triescope_cuda_row_summary
#undef triescope_cuda_split_qkv
#undef triescope_cuda_tree_attention

namespace {

thread_local int current_device = 0;    // as CUDA has it
std::atomic<int> host_allocations = 0;  // by threads that load a model side by side

void spoil(const char* launcher, void* result, int dtype) {
  const char* wrong = std::getenv("TRIESCOPE_CUDA_STAND_IN_WRONG");
  const std::size_t name = std::strlen(launcher);
  if (wrong == nullptr || std::strncmp(wrong, launcher, name) != 0) return;
  if (wrong[name] != '\0' && wrong[name] != ' ') return;
  const float more = wrong[name] == ' ' ? std::strtof(wrong + name, nullptr) : 1;
  const auto spoil_first = [&]<class T>(T* first) {
    using Element = triescope::kernels::cuda::Element<T>;
    *first = Element::narrow(Element::widen(*first) + more);
  };
  if (dtype == kTriescopeF32) spoil_first(static_cast<float*>(result));
  if (dtype == kTriescopeF16) spoil_first(static_cast<__half*>(result));
  if (dtype == kTriescopeBF16) spoil_first(static_cast<__nv_bfloat16*>(result));
}

int spoiled(int code, const char* launcher, void* result, int dtype) {
  if (code == 0) spoil(launcher, result, dtype);
  return code;
}

}  // namespace

extern "C" int triescope_cuda_add_norm(const TriescopeAddNorm* call, void* stream) {
  return spoiled(right_add_norm(call, stream), "add_norm", call->out, call->dtype);
}
extern "C" int triescope_cuda_block_linear(const TriescopeBlockLinear* call, void* stream) {
  return spoiled(right_block_linear(call, stream), "block_linear", call->y, call->y_dtype);
}
extern "C" int triescope_cuda_block_rows(const TriescopeBlockRows* call, void* stream) {
  return spoiled(right_block_rows(call, stream), "block_rows", call->out, call->dtype);
}
extern "C" int triescope_cuda_embed_norm(const TriescopeEmbedNorm* call, void* stream) {
  return spoiled(right_embed_norm(call, stream), "embed_norm", call->out, call->dtype);
}
extern "C" int triescope_cuda_gated_activation(const TriescopeGatedActivation* call, void* stream) {
  return spoiled(right_gated_activation(call, stream), "gated_activation", call->out, call->dtype);
}
extern "C" int triescope_cuda_row_summary(const TriescopeRowSummary* call, void* stream) {
  const int code =
      spoiled(right_row_summary(call, stream), "row_summary", call->log_sum, kTriescopeF32);
  return spoiled(code, "row_summary_values", call->values, kTriescopeF32);
}
extern "C" int triescope_cuda_split_qkv(const TriescopeSplitQkv* call, void* stream) {
  return spoiled(right_split_qkv(call, stream), "split_qkv", call->keys, call->dtype);
}
extern "C" int triescope_cuda_tree_attention(const TriescopeTreeAttention* call, void* stream) {
  return spoiled(right_tree_attention(call, stream), "tree_attention", call->out, call->dtype);
}

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
// $TRIESCOPE_CUDA_STAND_IN_DEVICES: how many there are, each over host memory (none unless set).
extern "C" int triescope_cuda_device_count(void) {
  const char* devices = std::getenv("TRIESCOPE_CUDA_STAND_IN_DEVICES");
  return devices == nullptr ? 0 : std::atoi(devices);
}
// $TRIESCOPE_CUDA_STAND_IN_FREE: bytes free on the first device; the others have none to tell of.
extern "C" int triescope_cuda_memory(int device, size_t* free_bytes, size_t* total_bytes) {
  const char* told = std::getenv("TRIESCOPE_CUDA_STAND_IN_FREE");
  if (told == nullptr || device != 0) return 101;  // cudaErrorInvalidDevice
  *free_bytes = std::strtoull(told, nullptr, 10);
  *total_bytes = 2 * *free_bytes;
  return 0;
}
extern "C" int triescope_cuda_use_device(int device, int* before) {
  if (device < 0 || device >= triescope_cuda_device_count()) return 101;
  *before = std::exchange(current_device, device);
  return 0;
}
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
// $TRIESCOPE_CUDA_STAND_IN_NO_PINNED: there is no page-locked memory.
extern "C" int triescope_cuda_host_allocate(void** pointer, size_t bytes) {
  if (std::getenv("TRIESCOPE_CUDA_STAND_IN_NO_PINNED") != nullptr) return 2;
  void* made = std::malloc(bytes);
  if (made == nullptr) return 2;  // cudaErrorMemoryAllocation
  *pointer = made;
  ++host_allocations;
  return 0;
}
extern "C" int triescope_cuda_host_free(void* pointer) {
  if (pointer != nullptr) --host_allocations;
  std::free(pointer);
  return 0;
}
// Of the stand-in alone: how many of these there are.
extern "C" int triescope_stand_in_host_allocations(void) { return host_allocations; }
