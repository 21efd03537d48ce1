// The reason of a verdict in a sentence, with the numbers that decided.
#include <string>

#include "core/base/words.h"
#include "core/capture/reasons.h"
#include "viz/narration/reason_text.h"
#include "viz/narration/story.h"

namespace triescope::viz {
namespace {

using capture::ReasonUnit;
using capture::VerdictRow;

// The node of the token in whose favour a draft was refused; -1 where the tree has none.
std::int32_t winner_of(const Story& story, const VerdictRow& row) {
  const auto& nodes = story.capture.nodes();
  const std::int32_t parent = nodes[static_cast<std::size_t>(row.node)].parent;
  for (const std::int32_t child : story.capture.children(parent))
    if (nodes[static_cast<std::size_t>(child)].token == row.replacement &&
        !capture::is_probe(nodes[static_cast<std::size_t>(child)]) &&
        story.capture.state_at(child, story.cursor) != capture::NodeState::kAbsent)
      return child;
  return -1;
}

// A value of the row under its name in sentences, with what it points at.
Value reason_value_of(const Story& story, const VerdictRow& row, const std::string& name) {
  const capture::ReasonValue& kind = capture::reason_value(name);
  const double value = kind.of(row);
  const auto whole = [&] { return static_cast<std::int64_t>(value); };
  Target target = to_node(row.node);
  if (name == "other" || name == "other_p") {
    const std::int32_t winner = winner_of(story, row);
    target = to_node(
        winner >= 0 ? winner : story.capture.nodes()[static_cast<std::size_t>(row.node)].parent);
  }
  if (name == "count") target = to_panel("verdict");
  if (name == "worst") target = to_panel("text");
  switch (kind.unit) {
    case ReasonUnit::kProbability:
      return story.probability(name, static_cast<float>(value), target.node);
    case ReasonUnit::kUniform:
      return labelled(name, "u", value, 3, target);
    case ReasonUnit::kRatio:
      return labelled(name, acceptance_limit_name(row.reason), value, 3, target);
    case ReasonUnit::kLogProbability:
      return number(name, value, target, 2);
    case ReasonUnit::kSum:
      return story.sum_log_p(name, value, row.node);
    case ReasonUnit::kRank:
      return ordinal(name, whole() + 1, target);
    case ReasonUnit::kCount:
      return count(name, whole(), target);
    case ReasonUnit::kToken:
      return token(story.capture, name, row.replacement, target);
    case ReasonUnit::kShare:
    case ReasonUnit::kScore:
      break;
  }
  return number(name, value, target);
}

}  // namespace

bool tell_reason(Story& story, const VerdictRow& row) {
  const std::string sentence = reason_sentence(row);
  if (sentence.empty()) return false;
  std::vector<Value> values = {story.node("node", row.node)};
  if (!row.why.empty())
    values.push_back(word("why", row.why, to_node(row.node)));
  else
    for (const std::string& name : words(capture::values_of(row.reason)))
      values.push_back(reason_value_of(story, row, name));
  story.say(sentence, std::move(values));
  return true;
}

}  // namespace triescope::viz
