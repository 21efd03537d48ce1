// Checks a ForwardBatch and brings its two ways of saying what rows see to one form. Also checks
// what a model shares with a draft head.
#pragma once

#include "core/files/config.h"
#include "core/kernels/tree_attention.h"
#include "core/model/model.h"

namespace triescope {

using kernels::VisibleSlots;

// Checks ids, positions, slots, lists and requested rows against the model and the KV capacity.
// Error{kInvalidArgument} says which entry. `position_end`: positions must be below it. The result
// borrows from the batch.
VisibleSlots check_batch(const ForwardBatch& batch, const formats::ModelConfig& config,
                         int position_end, int capacity);

// Check the sizes of Model::embed and Model::output_head. The second returns the number of rows.
void check_shared_embedding(std::span<const std::int32_t> tokens, std::size_t values,
                            const ModelInfo& model);
std::size_t check_shared_states(std::size_t values, const ModelInfo& model);

}  // namespace triescope
