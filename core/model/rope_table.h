// Rotary position angles of one RopeConfig. cos and sin depend on the position alone; with
// "dynamic" and "longrope" also on the length of the text, once it exceeds the original context.
// Source: transformers modeling_rope_utils.py (_compute_*_rope_parameters), where frequencies are
// fp32 too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/files/config.h"

namespace triescope {

// By how much q of a row at `position` is multiplied; 1 where the model has no such scale.
float query_scale(const formats::QueryScale& scale, std::int32_t position);

class RopeTable {
 public:
  explicit RopeTable(const formats::RopeConfig& config);

  int dims() const { return 2 * static_cast<int>(frequencies_.size()); }
  // `length` of the text: at least position + 1. cos, sin: [dims / 2], multiplied by the attention
  // factor.
  void fill(int position, int length, std::span<float> cos, std::span<float> sin) const;

 private:
  void stretch(int length, std::span<float> frequencies) const;  // dynamic

  std::vector<float> frequencies_;
  std::vector<float> long_frequencies_;  // longrope: for texts longer than the original context
  float scale_ = 1;
  int original_context_ = 0;  // dynamic, longrope: for texts up to here; else unused
  bool dynamic_ = false;
  float theta_ = 0, factor_ = 1;
};

}  // namespace triescope
