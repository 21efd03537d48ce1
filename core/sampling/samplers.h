// Four ways to draw an index from a discrete distribution. All follow the same distribution, at
// different costs; each is in a sample_*.cpp. An entry of weight 0 is never drawn. REQUIRES
// everywhere: at least one weight above 0, none below.
//
//   inverse CDF    O(n) a draw, nothing prepared    walk the running sum until it passes u * sum
//   Gumbel-max     O(n) a draw, no softmax, no      argmax of logit + Gumbel noise
//                  normalisation
//   binary search  O(n) once, O(log n) a draw       search u * sum in the prefix sums
//   alias          O(n) once, O(1) a draw           Walker 1974, tables after Vose 1991
//
// Decoding draws once from each distribution, so it uses the first two; the others pay when many
// draws come from one distribution. `triescope bench --only samplers` shows that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rng.h"

namespace triescope {

// u: uniform on (0, 1).
std::size_t sample_inverse_cdf(std::span<const float> weights, double u);

// logits: unnormalised log-probabilities, -infinity = impossible. Draws one Gumbel number for each
// entry, in order. Source: Gumbel 1954; Maddison, Tarlow, Minka, "A* Sampling", 2014, section 2.
std::size_t sample_gumbel_max(std::span<const float> logits, Rng& rng);

class CdfTable {
 public:
  explicit CdfTable(std::span<const float> weights);
  std::size_t draw(double u) const;  // u: uniform on (0, 1)

 private:
  std::vector<double> sums_;  // sums_[i] = weights[0] + .. + weights[i]
};

class AliasTable {
 public:
  explicit AliasTable(std::span<const float> weights);
  // one uniform number on (0, 1) gives both the column and the coin
  std::size_t draw(double u) const;

 private:
  std::vector<double> keep_;          // probability that column i answers i
  std::vector<std::uint32_t> alias_;  // the column's other answer
};

}  // namespace triescope
