#include "core/model/torch/row_summary.h"

#include <algorithm>
#include <cstdint>

#include "core/kernels/cuda_module.h"
#include "core/model/torch/cuda_launch.h"

namespace triescope {

RowSummaries summarise_rows(const at::Tensor& logits, int k) {
  const kernels::CudaModule& module = kernels::cuda_module();
  const std::int64_t rows = logits.size(0), best = rows * k;
  RowSummaries out;
  out.all = at::empty({rows + 2 * best}, logits.options().dtype(at::kInt));
  out.log_sum = out.all.narrow(0, 0, rows).view(at::kFloat);
  out.values = out.all.narrow(0, rows, best).view(at::kFloat).view({rows, k});
  out.tokens = out.all.narrow(0, rows + best, best).view({rows, k});
  TriescopeRowSummary call = {};
  call.x = logits.const_data_ptr<float>();
  // a single row's stride may be anything
  call.row_stride = std::max(logits.stride(0), logits.size(1));
  call.log_sum = out.log_sum.mutable_data_ptr<float>();
  call.values = out.values.mutable_data_ptr<float>();
  call.tokens = out.tokens.mutable_data_ptr<std::int32_t>();
  call.rows = static_cast<std::int32_t>(rows);
  call.count = static_cast<std::int32_t>(logits.size(1));
  call.k = k;
  call.scratch_bytes = module.row_summary_scratch(call.rows, call.count, k);
  const at::Tensor scratch =
      at::empty({static_cast<std::int64_t>(call.scratch_bytes)}, logits.options().dtype(at::kByte));
  call.scratch = scratch.mutable_data_ptr();
  check_launch(module.row_summary(&call, kernel_stream(logits)), "row summary", logits);
  return out;
}

}  // namespace triescope
