// The CUDA kernels, in a shared module (libtriescope_cuda.so) that is opened at the first request,
// so that one program serves machines with and without a GPU. Without the module or a driver every
// function is null. Thread-safe. The module stays open until the process ends.
#pragma once

#include <string>

#include "core/kernels/add_norm.cuh"
#include "core/kernels/block_linear.cuh"
#include "core/kernels/block_rows.cuh"
#include "core/kernels/device.cuh"
#include "core/kernels/embed_norm.cuh"
#include "core/kernels/gated_activation.cuh"
#include "core/kernels/row_summary.cuh"
#include "core/kernels/split_qkv.cuh"
#include "core/kernels/tree_attention.cuh"

namespace triescope::kernels {

struct CudaModule {
  // Launchers; contracts in the .cuh files. Null where absent.
  decltype(&triescope_cuda_tree_attention) tree_attention = nullptr;
  decltype(&triescope_cuda_tree_attention_scratch) tree_attention_scratch = nullptr;
  decltype(&triescope_cuda_embed_norm) embed_norm = nullptr;
  decltype(&triescope_cuda_add_norm) add_norm = nullptr;
  decltype(&triescope_cuda_split_qkv) split_qkv = nullptr;
  decltype(&triescope_cuda_gated_activation) gated_activation = nullptr;
  decltype(&triescope_cuda_block_linear) block_linear = nullptr;
  decltype(&triescope_cuda_block_rows) block_rows = nullptr;
  decltype(&triescope_cuda_row_summary) row_summary = nullptr;
  decltype(&triescope_cuda_row_summary_scratch) row_summary_scratch = nullptr;
  decltype(&triescope_cuda_error_string) error_string = nullptr;
  decltype(&triescope_cuda_device_count) device_count = nullptr;
  decltype(&triescope_cuda_memory) memory = nullptr;
  decltype(&triescope_cuda_use_device) use_device = nullptr;
  decltype(&triescope_cuda_allocate) allocate = nullptr;
  decltype(&triescope_cuda_free) free = nullptr;
  decltype(&triescope_cuda_to_device) to_device = nullptr;
  decltype(&triescope_cuda_to_host) to_host = nullptr;
  decltype(&triescope_cuda_host_allocate) host_allocate = nullptr;
  decltype(&triescope_cuda_host_free) host_free = nullptr;
  std::string path;    // path of the module; "" if none was opened
  std::string reason;  // why there is none: "no libtriescope_cuda.so beside the program (...)"

  bool available() const { return tree_attention != nullptr; }
};

// Looks at $TRIESCOPE_CUDA_MODULE, beside the program, and where the build put it.
const CudaModule& cuda_module();

}  // namespace triescope::kernels
