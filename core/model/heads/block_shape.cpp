#include "core/model/heads/block_shape.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"

namespace triescope {

bool is_context(const ForwardBatch& batch, std::size_t fc_inputs) {
  if (batch.masks.rows > 0 || !batch.feature_layers.empty())
    throw Error(
        ErrorCode::kNotSupported,
        "forward: expected rows of a text or a block, for their KV or logits; found what a DFlash head does "
        "not give: the target's masks, or hidden states");
  if (batch.input_features.empty()) return false;
  const std::size_t expected = fc_inputs * batch.tokens.size();
  if (batch.input_features.size() == expected) return true;
  throw Error(ErrorCode::kInvalidArgument,
              "forward: expected the target's states of " + std::to_string(fc_inputs) +
                  " values for each of " + std::to_string(batch.tokens.size()) + " rows, found " +
                  std::to_string(batch.input_features.size()) + " values");
}

BlockSight::BlockSight(const ForwardBatch& batch, const VisibleSlots& of_rows)
    : prefix_(of_rows.prefix) {
  const std::size_t rows = batch.slots.size();
  std::span<const std::int32_t> all = of_rows.own;
  if (!of_rows.offsets.empty())
    all = all.subspan(static_cast<std::size_t>(of_rows.offsets[rows - 1]));
  offsets_.push_back(0);
  for (const std::int32_t slot : batch.slots) {
    if (std::ranges::find(all, slot) == all.end())
      throw Error(ErrorCode::kInvalidArgument,
                  "forward: expected the rows of a block to be one chain; found slot " +
                      std::to_string(slot) + " outside what its last row sees");
    std::ranges::copy_if(all, std::back_inserter(own_),
                         [&](std::int32_t one) { return one != slot; });
    own_.push_back(slot);
    offsets_.push_back(static_cast<std::int32_t>(own_.size()));
  }
}

VisibleSlots BlockSight::visible() const {
  VisibleSlots visible;
  visible.prefix = prefix_;
  visible.own = own_;
  visible.offsets = offsets_;
  return visible;
}

}  // namespace triescope
