// Warpers: turn a row of (processed) scores into the distribution from which a sampling method
// draws. Order and semantics are those of transformers 5.17.0 (logits_process.py): temperature,
// top_h, top_k, top_p, min_p, typical_p, epsilon_cutoff, eta_cutoff, each over what the one before
// it left. top_k keeps all tokens that tie with the k-th. Where top_h or top_p cuts between tied
// tokens, those of lower id go first (a stable sort; transformers uses torch.topk and torch.sort,
// which are not stable, so there the machine decides).
//
// Settings read (absent = off): temperature (> 0, 1 = off), top_h (0 = off), top_k (0 = off), top_p
// (1 = off), min_p (0 = off), typical_p (1 = off), epsilon_cutoff and eta_cutoff (0 and 1 = off).
// Immutable once made, safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/capture/records.h"
#include "core/method/distribution.h"
#include "core/method/settings.h"

namespace triescope {

class Warpers {
 public:
  Warpers() = default;  // plain softmax
  // At least `min_tokens_to_keep` tokens survive each filter, except top_h, which keeps one.
  explicit Warpers(const Settings& settings, int min_tokens_to_keep = 1);

  // scores: [vocab] fp32; -infinity = impossible. Error{kInvalidArgument}: no token is possible, or
  // a score is NaN or +infinity.
  Distribution apply(std::span<const float> scores) const;

  // The stages of apply() for these tokens: p after the temperature and after each filter that is
  // on; 0 = cut away. For display: it costs more than apply(). A row that apply() refuses gives
  // nothing, or NaN.
  std::vector<capture::StageRow> stages(std::span<const float> scores,
                                        std::span<const std::int32_t> tokens) const;

 private:
  // Applies the filters and calls after(stage) behind each that is on.
  template <class After>
  void filter_all(Distribution& d, const After& after) const;

  float temperature_ = 1;
  double top_h_ = 0;
  int top_k_ = 0;
  double top_p_ = 1;
  double min_p_ = 0;
  double typical_p_ = 1;
  double epsilon_cutoff_ = 0;
  double eta_cutoff_ = 0;
  std::size_t min_tokens_to_keep_ = 1;
};

// The parameters above, for a method's MethodInfo.
std::vector<Parameter> warper_parameters();

}  // namespace triescope
