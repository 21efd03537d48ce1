// Rotary position angles of one RopeConfig. cos and sin of a position do not depend on anything but
// the position. Source: transformers modeling_rope_utils.py (_compute_*_rope_parameters); there,
// too, frequencies are fp32.
#pragma once

#include <span>
#include <vector>

#include "core/model/formats/config.h"

namespace triescope {

class RopeTable {
 public:
  explicit RopeTable(const formats::RopeConfig& config);

  int dims() const { return 2 * static_cast<int>(frequencies_.size()); }
  // The first position that it cannot turn; INT_MAX: none. (Dynamic and longrope change their
  // frequencies from there on.)
  int end() const { return end_; }
  // cos, sin: [dims / 2], multiplied by the attention factor.
  void fill(int position, std::span<float> cos, std::span<float> sin) const;

 private:
  std::vector<float> frequencies_;
  float scale_ = 1;
  int end_ = 0;
};

}  // namespace triescope
