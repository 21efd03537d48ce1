#include "core/model/torch/torch_short_conv.h"

#include <array>

#include "core/model/path_end.h"
#include "core/model/torch/row_bucket.h"

namespace triescope {

using at::Tensor;

TorchShortConv::TorchShortConv(const formats::ModelConfig& config, const VisibleSlots& visible,
                               std::int64_t rows, const at::Device& device) {
  seen_.resize(static_cast<std::size_t>(config.most_taps()));
  for (Seen& seen : seen_) seen = {at::zeros({rows}, at::kLong), at::zeros({rows, 1}, at::kBool)};
  std::array<std::int32_t, formats::kMostTaps> room;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto path =
        path_end(visible, static_cast<std::size_t>(r), std::span(room).first(seen_.size()));
    for (std::size_t back = 0; back < seen_.size(); ++back) {
      if (back < path.size()) {
        seen_[back].slots.mutable_data_ptr<std::int64_t>()[r] = path[path.size() - 1 - back];
      } else {
        seen_[back].before.mutable_data_ptr<bool>()[r] = true;
      }
    }
  }
  for (Seen& seen : seen_) seen = {seen.slots.to(device), seen.before.to(device)};
}

// A sum over a dimension would have libtorch's order; these are elementwise, so a row's bits depend on it alone.
Tensor TorchShortConv::run(const TorchWeights::Layer& layer, const Tensor& parts,
                           const Tensor& slots, Tensor& states) const {
  const std::int64_t rows = parts.size(0), hidden = parts.size(1) / 3;
  const Tensor state = parts.narrow(1, 0, hidden) * parts.narrow(1, 2 * hidden, hidden);
  states.index_copy_(0, slots.to(at::kLong),
                     state.view({rows, 1, hidden}).to(states.scalar_type()));
  const Tensor weights = layer.taps.view({hidden, -1});
  const std::int64_t taps = weights.size(1);
  Tensor sum = at::zeros({rows, hidden}, parts.options().dtype(at::kFloat));
  if (layer.taps_bias.defined()) sum = sum + layer.taps_bias;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const Seen& seen = seen_[static_cast<std::size_t>(taps - 1 - tap)];
    const Tensor z = states.index_select(0, seen.slots).view({rows, hidden}).to(at::kFloat);
    sum = sum + z.masked_fill(seen.before, 0) * weights.select(1, tap);
  }
  Tensor out = bucket_rows(rows, hidden, parts.options());
  out.copy_(parts.narrow(1, hidden, hidden) * sum.to(parts.scalar_type()));
  return out;
}

}  // namespace triescope
