#include "core/model/torch/torch_short_conv.h"

#include <algorithm>

#include "core/model/torch/row_bucket.h"

namespace triescope {

using at::Tensor;

TorchShortConv::TorchShortConv(const formats::ModelConfig& config, const VisibleSlots& visible,
                               std::int64_t rows, const at::Device& device) {
  for (std::int64_t back = 0; back < config.most_taps(); ++back) {
    const Tensor slots = at::zeros({rows}, at::kLong), before = at::zeros({rows, 1}, at::kBool);
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto own = visible.of(static_cast<std::size_t>(r));
      const auto from_end = static_cast<std::size_t>(back) + 1;
      auto& slot = slots.mutable_data_ptr<std::int64_t>()[r];
      if (from_end <= own.size()) {
        slot = own[own.size() - from_end];
      } else if (from_end <= own.size() + visible.prefix.size()) {
        slot = visible.prefix[own.size() + visible.prefix.size() - from_end];
      } else {
        before.mutable_data_ptr<bool>()[r] = true;
      }
    }
    seen_.push_back({slots.to(device), before.to(device)});
  }
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
