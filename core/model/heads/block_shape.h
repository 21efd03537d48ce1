// Shared by the two implementations of a DFlash head (block_model.h, block_torch.h), beside the weights: which rows a
// batch has, and what the rows of a block see.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model.h"
#include "core/model/visible_slots.h"

namespace triescope {

// Whether the rows are the text's, with the target's states, and not a block's. fc_inputs: number of inputs of the
// head's fc. Error{kInvalidArgument}: states of another width; {kNotSupported}: masks of the target, hidden states.
bool is_context(const ForwardBatch& batch, std::size_t fc_inputs);

// What rows of one block see: what its last row sees, the whole block. Borrows the batch.
class BlockSight {
 public:
  // Error{kInvalidArgument}: the last row does not see every row of the batch.
  BlockSight(const ForwardBatch& batch, const VisibleSlots& of_rows);
  VisibleSlots visible() const;

 private:
  std::span<const std::int32_t> prefix_;
  std::vector<std::int32_t> own_, offsets_;
};

}  // namespace triescope
