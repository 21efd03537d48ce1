// Warpers: from a row of (processed) scores to the distribution that a sampling method draws from.
// Order and semantics are those of transformers 5.17.0 (logits_process.py): temperature, top_k,
// top_p, min_p, typical_p, each over what the one before it left. top_k keeps all tokens level with
// the k-th. Where top_p cuts between level tokens, those of lower id go first (a stable sort;
// transformers uses torch.sort, which is not stable, so there the choice is the processor's).
//
// Settings read (absent = off): temperature (> 0, 1 = off), top_k (0 = off), top_p (1 = off), min_p
// (0 = off), typical_p (1 = off). Immutable once made, safe from any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "core/accept/distribution.h"
#include "core/decode/method.h"

namespace triescope {

class Warpers {
 public:
  Warpers() = default;  // plain softmax
  // At least `min_tokens_to_keep` tokens survive top_k, top_p, min_p and typical_p, each.
  explicit Warpers(const nlohmann::json& settings, int min_tokens_to_keep = 1);

  // scores: [vocab] fp32; -infinity = impossible. Error{kInvalidArgument}: nothing is possible, or
  // a score is NaN or +infinity.
  Distribution apply(std::span<const float> scores) const;

 private:
  float temperature_ = 1;
  int top_k_ = 0;
  double top_p_ = 1;
  double min_p_ = 0;
  double typical_p_ = 1;
  std::size_t min_tokens_to_keep_ = 1;
};

// The five parameters above, for a method's MethodInfo.
std::vector<Parameter> warper_parameters();

}  // namespace triescope
