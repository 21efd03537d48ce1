// Which tensors of a HeadFile make up a head: the names of a layer's tensors, the shape of several
// matrices stacked below one another, the draft vocabulary. HeadLoader (CPU kernels) and
// TorchHeadLoader (libtorch) load by them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/files/draft_head/head_file.h"

namespace triescope {

// The tensors of a transformer layer: matrices without ".weight", grouped by input; vectors by
// their full names.
struct LayerTensors {
  explicit LayerTensors(const std::string& prefix);
  std::array<std::string, 3> qkv;
  std::array<std::string, 1> output;
  std::array<std::string, 2> gate_up;
  std::array<std::string, 1> down;
  std::string attention_norm, mlp_norm, query_norm, key_norm;
};

// Several matrices of one input, stacked below one another: [outputs, inputs].
struct StackedShape {
  std::int64_t outputs = 0, inputs = 0;
  bool has_bias = false;  // at least one of them has
};
StackedShape stacked_shape(const formats::HeadFile& file, std::span<const std::string> names);

// The target's id of each draft id, for a head that has "d2t"; empty: the ids are the same.
std::vector<std::int32_t> draft_vocabulary(const formats::HeadFile& file);

}  // namespace triescope
