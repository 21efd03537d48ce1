// A next-token distribution over the tokens that a row leaves possible. Warpers (warpers.h) make
// these plain values.
//
// Invariants: tokens ascend and are distinct; the three vectors have one length, at least 1;
// probabilities sum to 1 within rounding. A token that is not listed has probability 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace triescope {

struct Distribution {
  std::vector<std::int32_t> tokens;
  std::vector<float> scores;         // log-probabilities up to a constant (after temperature)
  std::vector<float> probabilities;  // softmax of scores

  std::size_t size() const { return tokens.size(); }
  // Index of a token; -1 = not possible.
  std::ptrdiff_t find(std::int32_t token) const {
    const auto at = std::lower_bound(tokens.begin(), tokens.end(), token);
    return at == tokens.end() || *at != token ? -1 : at - tokens.begin();
  }
  float probability(std::int32_t token) const {
    const auto at = find(token);
    return at < 0 ? 0.0f : probabilities[static_cast<std::size_t>(at)];
  }
};

}  // namespace triescope
