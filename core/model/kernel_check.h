// The self-check at load. Every kernel of kernels::cuda_module() that a model will use runs once on
// the model's device, over a few rows of the model's own shapes and dtype, and its results are held
// to those of libtorch's operations. Where a kernel cannot be launched (a GPU that the module was
// not built for) or disagrees beyond its contract's tolerance, the model runs on libtorch's
// operations in its place and says why. Some tens of launches and copies: milliseconds.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "core/formats/config.h"
#include "core/formats/dequantise.h"

namespace triescope {

// Why a layer's step may not run on its kernel, the end of a sentence; "" = it may.
struct KernelObstacles {
  std::string embed_norm, add_norm, split_qkv, activation, attention;
};

// Shapes that a kernel does not do, a module that is missing, then what the kernels did on the device
// of `options`, in its dtype. Errors: what libtorch's operations meet there, kOutOfMemory, kCuda.
KernelObstacles check_layer_kernels(const formats::ModelConfig& config,
                                    const at::TensorOptions& options);

// The same of the two kernels that read blocks of `type`, for a matrix of `inputs` columns. Without
// the module its reason.
std::string check_block_kernels(formats::GgmlType type, std::int64_t inputs,
                                const at::TensorOptions& options);

// The same of TorchMatrix::give_fp32(), for a dense matrix of `inputs` columns in the dtype. fp32: says
// that there is nothing to gain.
std::string check_dense_kernel(std::int64_t inputs, const at::TensorOptions& options);

// The same of the kernel behind summarise_rows() (core/model/row_summary.h), for logits of `vocab`
// tokens in fp32, on the device of `options`.
std::string check_row_summary(std::int64_t vocab, const at::TensorOptions& options);

}  // namespace triescope
