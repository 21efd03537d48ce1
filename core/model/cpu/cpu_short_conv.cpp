#include "core/model/cpu/cpu_short_conv.h"

#include <algorithm>
#include <array>

#include "core/base/bf16.h"
#include "core/kernels/linear.h"
#include "core/model/cpu/scratch.h"
#include "core/model/path_end.h"

namespace triescope {
namespace {

float value_of(float value) { return value; }
float value_of(std::uint16_t value) { return bf16_to_float(value); }

// out = bias + sum over taps of w[tap] * z[tap], one column after the other. `weights`: [taps, out]. `seen`: the slots
// under the last taps; the first have none.
template <class Stored>
void convolve(std::span<const float> weights, std::span<const float> bias, const Stored* states,
              std::span<const std::int32_t> seen, std::span<float> out) {
  if (bias.empty()) {
    std::ranges::fill(out, 0.0f);
  } else {
    std::ranges::copy(bias, out.begin());
  }
  const float* w = weights.data() + weights.size() - seen.size() * out.size();
  for (const std::int32_t slot : seen) {
    const Stored* const z = states + static_cast<std::size_t>(slot) * out.size();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += w[i] * value_of(z[i]);
    w += out.size();
  }
}

}  // namespace

void CpuShortConv::run(const CpuWeights::Layer& layer, CpuRows in,
                       std::span<const std::int32_t> slots, const kernels::VisibleSlots& visible,
                       CpuKv& kv, std::size_t stored, float* y, std::int64_t stride) {
  const std::int64_t hidden = config_.hidden, width = 3 * hidden;
  const auto n = static_cast<std::size_t>(hidden);
  const auto rows = static_cast<std::int64_t>(slots.size());
  at_least(parts_, rows, width);
  kernels::linear(layer.qkv, in.values, in.stride, rows, parts_.data(), width, pool_);
  pool_.for_ranges(rows, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t r = begin; r < end; ++r) {
      float* const b = parts_.data() + r * width;
      const float* const x = b + 2 * hidden;
      for (std::int64_t i = 0; i < hidden; ++i) b[i] *= x[i];
    }
  });
  void* const states = kv.keys(stored);
  kernels::store_kv(parts_.data(), width, rows, config_.hidden, slots.data(), precision_, states);
  pool_.for_ranges(rows, [&](std::int64_t begin, std::int64_t end, int) {
    std::array<std::int32_t, formats::kMostTaps> room;
    const std::span<std::int32_t> taps = std::span(room).first(layer.taps.size() / n);
    for (std::int64_t r = begin; r < end; ++r) {
      const auto seen = path_end(visible, static_cast<std::size_t>(r), taps);
      const std::span<float> out(y + r * stride, n);
      if (precision_ == kernels::Precision::kF32) {
        convolve(layer.taps, layer.taps_bias, static_cast<const float*>(states), seen, out);
      } else {
        convolve(layer.taps, layer.taps_bias, static_cast<const std::uint16_t*>(states), seen, out);
      }
      const float* const c = parts_.data() + r * width + hidden;
      for (std::size_t i = 0; i < n; ++i) out[i] *= c[i];
    }
  });
}

}  // namespace triescope
