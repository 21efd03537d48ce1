#include "core/model/torch/torch_attention.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope {

using at::Tensor;

TorchOpsAttention::TorchOpsAttention(const formats::ModelConfig& config,
                                     const VisibleSlots& visible, std::int64_t rows, int capacity,
                                     const at::Device& device, const MaskRows* masks)
    : config_(config) {
  constexpr std::int64_t kBlock = 256;
  for (std::int64_t begin = 0; begin < rows; begin += kBlock)
    sights_.push_back(
        sight_of(visible, begin, std::min(begin + kBlock, rows), capacity, device, masks));
}

const Tensor& TorchOpsAttention::Sight::mask(int window) const {
  for (const auto& [w, mask] : masks) {
    if (w == window) return mask;
  }
  throw Error(ErrorCode::kInvalidArgument, "no mask for this window");
}

TorchOpsAttention::Sight TorchOpsAttention::sight_of(const VisibleSlots& visible,
                                                     std::int64_t begin, std::int64_t end,
                                                     int capacity, const at::Device& device,
                                                     const MaskRows* masks) const {
  Sight sight;
  sight.begin = begin;
  sight.end = end;
  std::vector<std::int32_t> columns;
  std::vector<std::int32_t> column_of(static_cast<std::size_t>(capacity), -1);
  const auto add = [&](std::int32_t slot) {
    if (column_of[static_cast<std::size_t>(slot)] >= 0) return;
    column_of[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(columns.size());
    columns.push_back(slot);
  };
  for (const std::int32_t slot : visible.prefix) add(slot);
  for (std::int64_t r = begin; r < end; ++r) {
    for (const std::int32_t slot : visible.of(static_cast<std::size_t>(r))) add(slot);
  }
  const auto width = static_cast<std::int64_t>(columns.size());
  for (const formats::LayerConfig& layer : config_.layers) {
    const bool known = std::any_of(sight.masks.begin(), sight.masks.end(),
                                   [&](const auto& entry) { return entry.first == layer.window; });
    if (known) continue;
    Tensor mask =
        at::full({end - begin, width}, -std::numeric_limits<float>::infinity(), at::kFloat);
    float* at_row = mask.mutable_data_ptr<float>();
    for (std::int64_t r = begin; r < end; ++r, at_row += width) {
      const auto own = visible.of(static_cast<std::size_t>(r));
      const std::size_t length = visible.prefix.size() + own.size();
      // A mask row's own slots begin with a prefix that stands at no position.
      const bool is_mask = masks != nullptr && static_cast<std::size_t>(r) >= masks->first();
      const std::size_t beside = is_mask ? masks->prefix() : 0;
      const auto see = [&](std::size_t i) {
        const std::int32_t slot =
            i < visible.prefix.size() ? visible.prefix[i] : own[i - visible.prefix.size()];
        at_row[column_of[static_cast<std::size_t>(slot)]] = 0;
      };
      for (std::size_t i = 0; i < beside; ++i) see(visible.prefix.size() + i);
      std::size_t left = length - beside;
      if (layer.window > 0) left = std::min(left, static_cast<std::size_t>(layer.window));
      for (std::size_t i = length; left > 0; --left) {
        if (--i + 1 == visible.prefix.size() + beside) i -= beside;
        see(i);
      }
    }
    sight.masks.emplace_back(layer.window, mask.to(device));
  }
  sight.slots = index_tensor(columns, device);
  return sight;
}

Tensor TorchOpsAttention::attend(const Tensor& q, const Tensor& keys, const Tensor& values,
                                 int window, const Tensor& sinks) const {
  const std::int64_t kv_heads = keys.size(1), head_dim = keys.size(2);
  const std::int64_t group = q.size(1) / kv_heads;
  std::vector<Tensor> parts;
  for (const Sight& sight : sights_) {
    const std::int64_t rows = sight.end - sight.begin;
    const Tensor k =
        keys.index_select(0, sight.slots).permute({1, 2, 0});  // [kv_heads, head_dim, slots]
    const Tensor v =
        values.index_select(0, sight.slots).transpose(0, 1);  // [kv_heads, slots, head_dim]
    // Query head h reads key/value head h / group.
    const Tensor queries = q.narrow(0, sight.begin, rows)
                               .reshape({rows, kv_heads, group, head_dim})
                               .permute({1, 2, 0, 3})
                               .reshape({kv_heads, group * rows, head_dim});
    Tensor scores = at::matmul(queries, k).to(at::kFloat).mul(config_.attention_scale);
    if (config_.attention_softcap > 0) {
      scores = at::tanh(scores / config_.attention_softcap) * config_.attention_softcap;
    }
    scores = scores.reshape({kv_heads, group, rows, -1}) + sight.mask(window);
    const std::int64_t seen = scores.size(-1);
    if (sinks.defined())
      scores = at::cat(
          {scores, sinks.view({kv_heads, group, 1, 1}).expand({kv_heads, group, rows, 1})}, -1);
    const Tensor weights = at::softmax(scores, -1)
                               .narrow(-1, 0, seen)
                               .to(q.scalar_type())
                               .reshape({kv_heads, group * rows, -1});
    parts.push_back(at::matmul(weights, v)
                        .reshape({kv_heads, group, rows, head_dim})
                        .permute({2, 0, 1, 3})
                        .reshape({rows, q.size(1) * head_dim}));
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts, 0);
}

}  // namespace triescope
