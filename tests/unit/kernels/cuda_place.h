// Where a CUDA kernel is tested: its source over host memory (the stand-in), or the module's on a
// GPU. Include before the .cu files.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/kernels/cuda_cases/cuda_arrays.h"
#include "core/kernels/cuda_cases/kernel_case.h"
#include "core/kernels/cuda_cases/kernel_inputs.h"
#include "core/kernels/cuda_module.h"
#include "tests/support/cuda_stand_in.h"
#include "tests/unit/kernels/random_values.h"

namespace triescope::kernels::test {

inline constexpr int kDTypes[] = {kTriescopeF32, kTriescopeF16, kTriescopeBF16};
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// The module of a GPU, or (null) the kernels' source over host memory. For each kernel one test file
// of this folder includes the source.
inline const CudaModule& module_of(const CudaModule* gpu) {
  static const CudaModule kSource = [] {
    CudaModule module;
    module.tree_attention = triescope_cuda_tree_attention;
    module.tree_attention_scratch = triescope_cuda_tree_attention_scratch;
    module.embed_norm = triescope_cuda_embed_norm;
    module.add_norm = triescope_cuda_add_norm;
    module.split_qkv = triescope_cuda_split_qkv;
    module.gated_activation = triescope_cuda_gated_activation;
    module.block_linear = triescope_cuda_block_linear;
    module.block_rows = triescope_cuda_block_rows;
    module.row_summary = triescope_cuda_row_summary;
    module.row_summary_scratch = triescope_cuda_row_summary_scratch;
    module.error_string = [](int) { return "an error of the stand-in"; };
    module.allocate = [](void** pointer, std::size_t bytes) -> int {
      *pointer = std::aligned_alloc(16, bytes);
      return *pointer == nullptr;
    };
    module.free = [](void* pointer) -> int {
      std::free(pointer);
      return 0;
    };
    module.to_device = [](void* device, const void* host, std::size_t bytes) -> int {
      if (bytes > 0) std::memcpy(device, host, bytes);
      return 0;
    };
    module.to_host = [](void* host, const void* device, std::size_t bytes) -> int {
      if (bytes > 0) std::memcpy(host, device, bytes);
      return 0;
    };
    return module;
  }();
  return gpu != nullptr ? *gpu : kSource;
}

// Launches the inputs' call. Its results are on the device then.
template <class Inputs>
auto launched(const Inputs& inputs, CudaArrays& on, const CudaModule& module) {
  const auto call = inputs.put(on, module);
  REQUIRE((module.*Inputs::kLauncher)(&call, nullptr) == 0);
  return call;
}

// The kernel agrees with its twin, as loading and `triescope check` demand too.
template <class Inputs>
void check_case(Inputs inputs, const CudaModule* gpu) {
  const CudaModule& module = module_of(gpu);
  const KernelCase one = kernel_case(std::move(inputs));
  CudaArrays on(module);
  const PlacedCase placed = one.place(on, module);
  CAPTURE(one.what);
  REQUIRE(placed.launch() == 0);
  CHECK(placed.compare().problem() == "");
}

inline bool all_nan(const Floats& values, std::size_t begin, std::size_t count) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(count),
                     [](float v) { return std::isnan(v); });
}

inline bool any_nan(const Floats& values, std::size_t begin, std::size_t count) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(count),
                     [](float v) { return std::isnan(v); });
}

// Each change alone makes a good call one that is refused: what the contract's checks exclude.
template <class Call, class... Changes>
void check_refused(int (*launch)(const Call*, void*), const Call& good, Changes... changes) {
  const auto one = [&](auto change) {
    Call call = good;
    change(call);
    CHECK(launch(&call, nullptr) == cudaErrorInvalidValue);
  };
  ::cuda_stand_in::launches.clear();
  (one(changes), ...);
  CHECK(::cuda_stand_in::launches.empty());
}

// The module where a GPU answers, else null with the reason in `missing`.
inline const CudaModule* answering_gpu(const char*& missing) {
  const CudaModule& gpu = cuda_module();
  missing = !gpu.available()          ? "the CUDA module is not built"
            : gpu.device_count() == 0 ? "no CUDA device answers"
                                      : nullptr;
  return missing == nullptr ? &gpu : nullptr;
}

}  // namespace triescope::kernels::test
