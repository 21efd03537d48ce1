#include "core/methods/best_draft_watch.h"

namespace triescope {
namespace {

// A trained head's best draft is right in a third to four fifths of the steps. With its layers one
// off it is right in a tenth (RedHat's and AngelSlim's EAGLE-3 heads: 45 % and 10 %).
constexpr int kSteps = 32;
constexpr int kOneIn = 5;

}  // namespace

void BestDraftWatch::observe(const StepView& view) {
  if (best_.valid() && !view.text.empty()) {
    ++steps_;
    right_ += view.text.front() == best_;
  }
  best_ = NodeId();
}

std::string BestDraftWatch::warning(const std::string& remedy) const {
  if (steps_ < kSteps || right_ * kOneIn >= steps_) return "";
  return "the head's best draft for the next token came true in " + std::to_string(right_) +
         " of " + std::to_string(steps_) + " steps, where one in " + std::to_string(kOneIn) +
         " is little: " + remedy;
}

}  // namespace triescope
