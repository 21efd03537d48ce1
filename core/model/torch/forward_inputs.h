// A forward's inputs on the device: tokens, positions, slots, requested rows and visible lists as
// parts of one int32 upload, and the rotary tables as parts of one fp32 upload.
#pragma once

#include <span>
#include <vector>

#include "core/kernels/aten.h"
#include "core/model/rope_table.h"
#include "core/model/torch/staging_buffer.h"
#include "core/model/visible_slots.h"

namespace triescope {

struct ForwardInputs {
  // cos and sin of every row: [rows, dims / 2] fp32.
  struct Rotation {
    at::Tensor cos, sin;
  };

  // Both uploads go through `staging`, whose memory is free again afterwards.
  ForwardInputs(const ForwardBatch& batch, const VisibleSlots& visible,
                std::span<const RopeTable> ropes, const at::Device& device, StagingBuffer& staging);

  // int32, as in ForwardBatch and VisibleSlots; empty offsets = causal.
  at::Tensor tokens, positions, slots, logit_rows, feature_rows, prefix, own, offsets;
  std::vector<Rotation> rotations;  // by rope
};

}  // namespace triescope
