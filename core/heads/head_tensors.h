// Which tensors of a HeadFile a head is made of: the names of a layer's, what several of them are
// one below the other, the draft vocabulary. For both ways of running a head: the loaders over them
// are HeadLoader (CPU kernels) and TorchHeadLoader (libtorch).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/formats/draft_head/head_file.h"

namespace triescope {

// A transformer layer's: matrices without ".weight", those that share an input together; vectors in
// full.
struct LayerTensors {
  explicit LayerTensors(const std::string& prefix);
  std::array<std::string, 3> qkv;
  std::array<std::string, 1> output;
  std::array<std::string, 2> gate_up;
  std::array<std::string, 1> down;
  std::string attention_norm, mlp_norm, query_norm, key_norm;
};

// Several matrices of one input, one below the other: [outputs, inputs].
struct StackedShape {
  std::int64_t outputs = 0, inputs = 0;
  bool has_bias = false;  // one of them has
};
StackedShape stacked_shape(const formats::HeadFile& file, std::span<const std::string> names);

// The target's ids by draft id, of a head whose logits are "d2t"'s; empty: they are the same.
std::vector<std::int32_t> draft_vocabulary(const formats::HeadFile& file);

}  // namespace triescope
