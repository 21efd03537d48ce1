// The kernels over matrices and logits.
#include <algorithm>
#include <cmath>
#include <span>

#include "core/files/random_blocks.h"
#include "core/kernels/cuda_cases/kernel_inputs.h"
#include "core/kernels/cuda_cases/random_inputs.h"
#include "core/kernels/row_ops.h"

namespace triescope::kernels {

TriescopeBlockRows BlockRowsInputs::put(CudaArrays& on, const CudaModule&) const {
  return {.blocks = on.put(stored.data(), stored.size()),
          .type = static_cast<std::int32_t>(type),
          .rows = rows,
          .inputs = inputs,
          .dtype = dtype,
          .ids = nullptr,
          .out = on.room(static_cast<std::size_t>(rows) * static_cast<std::size_t>(inputs) *
                         size_of_dtype(dtype)),
          .out_stride = inputs};
}

Agreement BlockRowsInputs::compare(const CudaArrays& on, const Call& call) const {
  Floats want = formats::dequantised(type, stored);
  const Bytes bytes = encode(want, dtype);
  Agreement result;
  if (on.get(call.out, bytes.size()) != bytes)
    result.unequal = "the kernel's weights are not the bits of the file's";
  return result;
}

std::string BlockRowsInputs::what() const {
  return "rows of " + std::string(formats::to_string(type)) + " blocks";
}

double BlockRowsInputs::bytes() const {
  return static_cast<double>(stored.size()) +
         static_cast<double>(rows) * inputs * static_cast<double>(size_of_dtype(dtype));
}

BlockLinearInputs BlockLinearInputs::random(formats::GgmlType type, std::vector<std::byte> stored,
                                            int outputs, int inputs, int rows, int x_dtype,
                                            int y_dtype, bool bias, Rng& rng) {
  BlockLinearInputs c{.type = type,
                      .outputs = outputs,
                      .inputs = inputs,
                      .rows = rows,
                      .x_dtype = x_dtype,
                      .y_dtype = y_dtype,
                      .stored = std::move(stored),
                      .x = {},
                      .bias = {}};
  c.x = in_dtype(random_values(std::int64_t{rows} * inputs, rng, 0.02f), x_dtype);
  if (bias) c.bias = in_dtype(random_values(outputs, rng, 100.0f), x_dtype);
  return c;
}

TriescopeBlockLinear BlockLinearInputs::put(CudaArrays& on, const CudaModule&) const {
  return {.blocks = on.put(stored.data(), stored.size()),
          .type = static_cast<std::int32_t>(type),
          .outputs = outputs,
          .inputs = inputs,
          .rows = rows,
          .x = on.put(x, x_dtype),
          .x_stride = inputs,
          .x_dtype = x_dtype,
          .y_dtype = y_dtype,
          .bias = bias.empty() ? nullptr : on.put(bias, x_dtype),
          .y = on.room(static_cast<std::size_t>(rows) * static_cast<std::size_t>(outputs) *
                       size_of_dtype(y_dtype)),
          .y_stride = outputs};
}

// Sums of products in fp64; they may be off by a part of the products' magnitudes, and by y's own
// rounding.
Agreement BlockLinearInputs::compare(const CudaArrays& on, const Call& call) const {
  const auto n = static_cast<std::size_t>(outputs), k = static_cast<std::size_t>(inputs),
             count = static_cast<std::size_t>(rows) * n;
  const Floats weights = formats::dequantised(type, stored), y = on.get(call.y, count, y_dtype);
  const double own = y_dtype == kTriescopeF32 ? 0 : y_dtype == kTriescopeF16 ? 5e-4 : 4e-3;
  Agreement result;
  for (std::size_t i = 0; i < count; ++i) {
    const float* const row = x.data() + i / n * k;
    const float* const weight = weights.data() + i % n * k;
    double sum = bias.empty() ? 0.0 : static_cast<double>(bias[i % n]);
    double magnitudes = std::fabs(sum);
    for (std::size_t at = 0; at < k; ++at) {
      const double product = double{row[at]} * double{weight[at]};
      sum += product;
      magnitudes += std::fabs(product);
    }
    const double apart = std::fabs(double{y[i]} - sum);
    const double largest = std::max(result.largest, std::fabs(sum));
    result = worse(result, {.off = std::isnan(apart) ? HUGE_VAL : apart,
                            .allowed = 5e-7 * magnitudes + own * std::fabs(sum) + 1e-7,
                            .unequal = ""});
    result.largest = largest;
  }
  return result;
}

std::string BlockLinearInputs::what() const {
  return "linear, " + std::string(formats::to_string(type)) + ", " + std::to_string(rows) +
         (rows == 1 ? " row" : " rows");
}

double BlockLinearInputs::bytes() const { return static_cast<double>(stored.size()); }

TriescopeRowSummary RowSummaryInputs::put(CudaArrays& on, const CudaModule& module) const {
  const auto all = static_cast<std::size_t>(rows), best = all * static_cast<std::size_t>(k);
  TriescopeRowSummary call = {};
  call.x = on.list(x);
  call.row_stride = stride;
  call.rows = rows;
  call.count = count;
  call.k = k;
  call.log_sum = static_cast<float*>(on.room(4 * all));
  call.values = static_cast<float*>(on.room(4 * best));
  call.tokens = static_cast<std::int32_t*>(on.room(4 * best));
  call.scratch_bytes = module.row_summary_scratch(rows, count, k);
  call.scratch = on.room(call.scratch_bytes);
  return call;
}

Agreement RowSummaryInputs::compare(const CudaArrays& on, const Call& call) const {
  const auto all = static_cast<std::size_t>(rows), best = static_cast<std::size_t>(k);
  const auto row = [&](std::size_t r) {
    return std::span(x).subspan(r * static_cast<std::size_t>(stride),
                                static_cast<std::size_t>(count));
  };
  Agreement result;
  if (compared == Part::kLogSum) {
    Floats sums;
    for (std::size_t r = 0; r < all; ++r) sums.push_back(log_sum_exp(row(r)));
    // The kernel's tolerance and its twin's, each of 2 ulp or an absolute one.
    return agreement(on.numbers<float>(call.log_sum, all), sums, 0x1p-21, 3e-6);
  }
  const auto values = on.numbers<float>(call.values, all * best);
  const auto tokens = on.numbers<std::int32_t>(call.tokens, all * best);
  for (std::size_t r = 0; r < all; ++r) {
    std::size_t at = r * best;
    for (const auto& expected : top_k(row(r), best)) {
      if (expected != std::pair(values[at], tokens[at]))
        result.unequal = "the kernel's best tokens are not those that sorting finds";
      ++at;
    }
  }
  return result;
}

std::string RowSummaryInputs::what() const {
  return compared == Part::kLogSum ? "log-sum-exp of logits"
                                   : "the " + std::to_string(k) + " best of logits";
}

double RowSummaryInputs::bytes() const {
  return 4.0 * static_cast<double>(rows) * static_cast<double>(count);
}

}  // namespace triescope::kernels
