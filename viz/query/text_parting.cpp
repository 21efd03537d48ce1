#include "viz/query/text_parting.h"

#include <algorithm>
#include <vector>

#include "viz/query/leaves.h"
#include "viz/query/run_figures.h"

namespace triescope::viz {
namespace {

// The tokens of a text, and the step that brought each; no steps: not known.
struct StepwiseText {
  std::vector<std::int32_t> tokens, steps;

  std::int32_t step_of(std::int64_t token) const {
    const auto i = static_cast<std::size_t>(token);
    return i < tokens.size() && i < steps.size() ? steps[i] : -1;
  }
};

StepwiseText stepwise_text(const capture::Capture& capture) {
  StepwiseText text;
  const auto nodes = text_at(capture, capture.end_tick());
  if (nodes.empty()) {
    if (const auto* const best = best_sequence(capture, capture.end_tick()))
      text.tokens = best->tokens;
    // A step emits tokens of the one text, except in a beam search.
    if (capture.run().kind != capture::RunKind::kBeams)
      for (const capture::StepRow& row : capture.steps())
        text.steps.insert(text.steps.end(), static_cast<std::size_t>(std::max(0, row.emitted)),
                          row.step);
    return text;
  }
  for (const std::int32_t node : nodes) {
    const capture::NodeRow& row = capture.nodes()[static_cast<std::size_t>(node)];
    text.tokens.push_back(row.token);
    text.steps.push_back(capture::step_of(row.tick));
  }
  return text;
}

}  // namespace

TextParting text_parting(const capture::Capture& first, const capture::Capture& second) {
  TextParting parting;
  if (first.run().prompt_tokens != second.run().prompt_tokens) {
    parting.same_prompt = false;
    return parting;
  }
  const StepwiseText a = stepwise_text(first), b = stepwise_text(second);
  const auto at = std::mismatch(a.tokens.begin(), a.tokens.end(), b.tokens.begin(), b.tokens.end());
  parting.tokens = at.first - a.tokens.begin();
  parting.same_text = at.first == a.tokens.end() && at.second == b.tokens.end();
  parting.first_step = a.step_of(parting.tokens);
  parting.step = b.step_of(parting.tokens);
  return parting;
}

}  // namespace triescope::viz
