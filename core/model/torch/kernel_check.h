// The self-check at load. Every kernel of kernels::cuda_module() that a model will use runs once on
// the model's device, over a few rows of the model's own shapes and dtype, and its results are
// compared with its CPU twin's (core/kernels/cuda_cases). If a kernel cannot be launched (the module
// was not built for this GPU) or disagrees beyond its contract's tolerance, the model runs on
// libtorch's operations in its place and says why. This takes some tens of launches and copies.
#pragma once

#include <cstdint>
#include <string>

#include "core/files/config.h"
#include "core/files/dequantise.h"
#include "core/kernels/aten.h"

namespace triescope {

// Why a layer's step may not run on its kernel, as the end of a sentence; "" = it may.
struct KernelObstacles {
  std::string embed_norm, add_norm, split_qkv, activation, attention;
};

// Considers the shapes that a kernel lacks, then a missing module, then the kernels' results on the
// device of `options` in its dtype. Errors: kOutOfMemory, kCuda.
KernelObstacles check_layer_kernels(const formats::ModelConfig& config,
                                    const at::TensorOptions& options);

// The same for the two kernels that read blocks of `type`, for a matrix of `inputs` columns.
// Without the module, the module's reason.
std::string check_block_kernels(formats::GgmlType type, std::int64_t inputs,
                                const at::TensorOptions& options);

// The same for TorchMatrix::give_fp32(), for a dense matrix of `inputs` columns in the dtype; with
// fp32 it says that nothing can be gained.
std::string check_dense_kernel(std::int64_t inputs, const at::TensorOptions& options);

// The same for the kernel behind summarise_rows() (core/model/torch/row_summary.h), for logits of `vocab`
// tokens in fp32, on the device of `options`.
std::string check_row_summary(std::int64_t vocab, const at::TensorOptions& options);

}  // namespace triescope
