#include "core/verify/beam_pool.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"

namespace triescope {

EarlyStopping early_stopping_from_string(const std::string& text) {
  if (text == "true") return EarlyStopping::kTrue;
  if (text == "false") return EarlyStopping::kFalse;
  if (text == "never") return EarlyStopping::kNever;
  throw Error(ErrorCode::kInvalidArgument,
              "early_stopping: expected true, false or never; found \"" + text + "\"");
}

FinishedPool::FinishedPool(int places, double length_penalty, EarlyStopping early_stopping,
                           int max_new_tokens)
    : places_(static_cast<std::size_t>(places)),
      length_penalty_(length_penalty),
      early_stopping_(early_stopping),
      max_new_tokens_(max_new_tokens) {}

float FinishedPool::normalised(float sum, int generated) const {
  // The power is in double and the division in float, as when a Python number meets a float32
  // tensor.
  return sum / static_cast<float>(std::pow(static_cast<double>(generated), length_penalty_));
}

std::vector<FinishedSequence> FinishedPool::add(std::vector<FinishedSequence> finished) {
  // Empty places score -1e9 and are older: a sequence must exceed that to take one.
  std::vector<FinishedSequence> lost;
  for (FinishedSequence& sequence : finished) {
    if (sequence.score > kEmpty) {
      pool_.push_back(sequence);
    } else {
      lost.push_back(sequence);
    }
  }
  std::ranges::stable_sort(pool_, std::ranges::greater{}, &FinishedSequence::score);
  while (pool_.size() > places_) {
    lost.push_back(pool_.back());
    pool_.pop_back();
  }
  return lost;
}

void FinishedPool::add(std::vector<FinishedSequence> finished, AcceptResult& result) {
  result.finished.insert(result.finished.end(), finished.begin(), finished.end());
  for (const FinishedSequence& lost : add(std::move(finished)))
    result.verdicts.push_back({.node = lost.node.value,
                               .verdict = capture::Verdict::kPruned,
                               .score = lost.score,
                               .gap = std::max(0.0f, worst() - lost.score),
                               .reason = capture::Reason::kBetterFinished,
                               .threshold = worst(),
                               .count = static_cast<std::int32_t>(places_)});
}

bool FinishedPool::may_improve(float best_live_sum, int generated) {
  if (full() && early_stopping_ == EarlyStopping::kTrue) return false;
  const bool longest = early_stopping_ == EarlyStopping::kNever && length_penalty_ > 0;
  const float best_possible = normalised(best_live_sum, longest ? max_new_tokens_ : generated);
  improvable_ = improvable_ && best_possible > worst();
  return improvable_;
}

}  // namespace triescope
