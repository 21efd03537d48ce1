// A summary of rows of logits on a device: the log-sum-exp and the k best of each, by the kernel
// row_summary (core/kernels/row_summary.cuh). REQUIRES: check_row_summary() of
// core/model/torch/kernel_check.h found no obstacle.
#pragma once

#include "core/kernels/aten.h"

namespace triescope {

// On the device of the logits. One allocation, so that one copy brings all of it to the host: `all`
// is [rows * (1 + 2 k)] words of 32 bits (int32), which hold in this order
struct RowSummaries {
  at::Tensor log_sum;  // [rows] fp32
  at::Tensor values;   // [rows, k] fp32, best first; of equal ones the lower token first
  at::Tensor tokens;   // [rows, k] int32
  at::Tensor all;
};

// logits: [rows, vocab] fp32, each row contiguous. 1 <= k <= kTriescopeRowSummaryBest and k <=
// vocab. Launched on the current stream of their device. Errors: LaunchError; libtorch's where
// memory runs out.
RowSummaries summarise_rows(const at::Tensor& logits, int k);

}  // namespace triescope
