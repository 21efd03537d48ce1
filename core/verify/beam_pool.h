// FinishedPool: the best b finished sequences of a beam search, and whether the search may stop. It
// does exactly what transformers 5.17.0 does (generation/utils.py: _update_finished_beams,
// _check_early_stop_heuristic, _beam_search_has_unfinished_sequences), in fp32 as well:
//
//   score = sum of log p / (generated tokens, EOS included) ^ length_penalty
//   The pool starts as b places of score -1e9 that hold nothing; the best b of old and new stay,
//   ties to the older one. The search stops, with early_stopping
//     true   when all b places hold a finished sequence;
//     false  when also the best live score / (current length)^lp does not exceed the worst of them;
//     never  the same over (maximal length)^lp, where lp > 0.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/method/method.h"

namespace triescope {

enum class EarlyStopping : std::uint8_t { kTrue, kFalse, kNever };
EarlyStopping early_stopping_from_string(const std::string& text);  // "true", "false", "never"

class FinishedPool {
 public:
  FinishedPool(int places, double length_penalty, EarlyStopping early_stopping, int max_new_tokens);

  // sum: the sum of log p over `generated` tokens.
  float normalised(float sum, int generated) const;
  // Adds a step's new sequences, best first. Returns those that found no place or lost theirs.
  std::vector<FinishedSequence> add(std::vector<FinishedSequence> finished);
  // The same, and tells the result: the sequences in `finished`, and a verdict on each that has no place.
  void add(std::vector<FinishedSequence> finished, AcceptResult& result);
  // Call after add(). Whether a live text of `generated` tokens may still get in; best_live_sum is
  // the best such text's sum of log p.
  bool may_improve(float best_live_sum, int generated);
  bool full() const { return pool_.size() == places_; }
  float worst() const { return full() ? pool_.back().score : kEmpty; }

  const std::vector<FinishedSequence>& sequences() const { return pool_; }  // best first

  static constexpr float kEmpty = -1.0e9f;

 private:
  std::size_t places_;
  double length_penalty_;
  EarlyStopping early_stopping_;
  int max_new_tokens_;
  std::vector<FinishedSequence> pool_;
  bool improvable_ = true;
};

}  // namespace triescope
