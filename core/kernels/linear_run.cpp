#include "core/kernels/linear_run.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/kernels/cpu/table.h"

namespace triescope::kernels {

namespace {

std::atomic<std::uint64_t> run_count{0};

}  // namespace

LinearRun::LinearRun(const PackedLinear& w, const float* x, std::int64_t x_stride,
                     std::int64_t rows, ThreadPool& pool, std::int64_t beside)
    : w_(w),
      kernels_(cpu_kernels()),
      pool_(pool),
      x_(x),
      x_stride_(x_stride),
      rows_(rows),
      own_bytes_(static_cast<std::size_t>(linear_scratch(rows, w.inputs_)) * sizeof(float)),
      bytes_(own_bytes_ + static_cast<std::size_t>(beside) * sizeof(float)),
      number_(run_count.fetch_add(1, std::memory_order_relaxed) + 1) {
  for (int worker = 0; worker < pool.size(); ++worker) pool.scratch(worker, bytes_);
  const bool in_place =
      rows > kernels_.laid_out_rows || std::ranges::any_of(w.parts_, [](const auto& part) {
        return formats::block_elements(part.type) == 1;
      });
  if (rows <= 4 || !in_place || linear_stride(x_stride) == x_stride) return;
  x_stride_ = linear_stride(w.inputs_);
  const std::size_t bytes = static_cast<std::size_t>(rows * x_stride_) * sizeof(float);
  auto* const apart =
      reinterpret_cast<float*>(static_cast<std::byte*>(pool.scratch(0, bytes_ + bytes)) + bytes_);
  pool.for_ranges(rows, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t r = begin; r < end; ++r)
      std::memcpy(apart + r * x_stride_, x + r * x_stride,
                  static_cast<std::size_t>(w.inputs_) * sizeof(float));
  });
  x_ = apart;
}

void LinearRun::panels(const PackedLinear::Placed& part, std::int64_t begin, std::int64_t end,
                       int worker, float* y, std::int64_t y_stride, LinearMode mode) const {
  const std::int64_t panel = part.first_panel + begin;
  std::uint64_t& note = pool_.scratch_note(worker);
  const bool lays_out = rows_ <= kernels_.laid_out_rows && formats::block_elements(part.type) > 1;
  const LinearCall call{
      .weights = w_.weights_.as<const std::byte>() + part.offset +
                 static_cast<std::size_t>(begin) * part.panel_bytes,
      .type = part.type,
      .bias = w_.has_bias() ? w_.bias_.as<const float>() + panel * PackedLinear::kPanel : nullptr,
      .x = x_,
      .x_stride = x_stride_,
      .rows = rows_,
      .k = w_.inputs_,
      .outputs = part.outputs - begin * PackedLinear::kPanel,
      .y = y,
      .y_stride = y_stride,
      .add = mode == LinearMode::kAdd,
      .x_in_scratch = lays_out && note == number_};
  kernels_.linear_panels(call, 0, end - begin,
                         static_cast<float*>(pool_.scratch(worker, own_bytes_)));
  note = lays_out ? number_ : 0;
}

float* LinearRun::beside(int worker) const {
  return reinterpret_cast<float*>(static_cast<std::byte*>(pool_.scratch(worker, bytes_)) +
                                  own_bytes_);
}

}  // namespace triescope::kernels
