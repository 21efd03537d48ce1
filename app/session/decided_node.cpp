#include "app/session/decided_node.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "app/session/step_condition.h"
#include "viz/query/row_entropy.h"
#include "viz/query/token_kind.h"

namespace triescope::app {
namespace {

using capture::CandidateRow;
using capture::Verdict;
using lessons::Value;

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// The rows that the owners say passed about what follows `node`: of each owner the newest ones.
template <class Passes>
std::span<const CandidateRow> row_after(const StepFacts& facts, std::int32_t node, Passes passes) {
  std::span<const CandidateRow> newest;
  for (const std::span<const CandidateRow> rows : facts.candidates)
    for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
      while (end < rows.size() && rows[end].node == rows[first].node &&
             rows[end].whose == rows[first].whose && rows[end].tick == rows[first].tick)
        ++end;
      if (rows[first].node == node && passes(rows[first].whose))
        newest = rows.subspan(first, end - first);
    }
  return newest;
}

double entropy_before(const StepFacts& facts, const DecidedNode& node) {
  const auto rows = row_after(facts, node.row.parent, [](capture::Whose whose) {
    return whose == capture::Whose::kTarget;
  });
  return rows.empty() ? kNotKnown : viz::entropy_of(rows);
}

// The token's probability in the drafter's own row; without such a row, the one it was drawn with.
double drafted_with(const StepFacts& facts, const DecidedNode& node) {
  const auto rows = row_after(facts, node.row.parent, [](capture::Whose whose) {
    return whose != capture::Whose::kTarget;
  });
  for (const CandidateRow& row : rows)
    if (row.token == node.row.token) return std::exp(static_cast<double>(row.logprob));
  return capture::is_draft(node.row) ? static_cast<double>(node.row.q) : kNotKnown;
}

double target_p(const DecidedNode& node) {
  if (node.verdict.p >= 0) return static_cast<double>(node.verdict.p);
  return std::exp(static_cast<double>(node.row.logprob));
}

std::string token_of(const StepFacts& facts, const DecidedNode& node) {
  return std::string(facts.piece_of(node.row.token).value_or(""));
}

struct NodeName {
  ConditionName name;
  Value (*of)(const StepFacts& facts, const DecidedNode& node);
};
constexpr NodeName kNodeNames[] = {
    {{"node", "its number"},
     [](const StepFacts&, const DecidedNode& n) { return Value(1.0 * n.row.node); }},
    {{"token", "its text, as the vocabulary spells it: most begin with a space"},
     [](const StepFacts& f, const DecidedNode& n) { return Value(token_of(f, n)); }},
    {{"token_id", "its number in the vocabulary"},
     [](const StepFacts&, const DecidedNode& n) { return Value(1.0 * n.row.token); }},
    {{"depth", "its depth among the drafts of the step, from 1"},
     [](const StepFacts&, const DecidedNode& n) { return Value(1.0 * n.level); }},
    {{"position", "its place in prompt and text, from 0"},
     [](const StepFacts& f, const DecidedNode& n) {
       return Value(1.0 * (f.prompt_tokens + n.row.depth - 1));
     }},
    {{"verdict", "\"accepted\", \"rejected\", \"bonus\", \"corrected\", \"pruned\", …"},
     [](const StepFacts&, const DecidedNode& n) {
       return Value(std::string(to_string(n.verdict.verdict)));
     }},
    {{"reason", "why, as the capture spells it: \"not_argmax\", \"parent_refused\", …"},
     [](const StepFacts&, const DecidedNode& n) {
       return Value(std::string(to_string(n.verdict.reason)));
     }},
    {{"reached", "no draft above it was refused"},
     [](const StepFacts&, const DecidedNode& n) { return Value(n.reached); }},
    {{"p", "the target's probability of it"},
     [](const StepFacts&, const DecidedNode& n) { return Value(target_p(n)); }},
    {{"q", "the drafter's probability of it"},
     [](const StepFacts& f, const DecidedNode& n) { return Value(drafted_with(f, n)); }},
    {{"u", "the random number that decided"},
     [](const StepFacts&, const DecidedNode& n) {
       return Value(n.verdict.u >= 0 ? static_cast<double>(n.verdict.u) : kNotKnown);
     }},
    {{"rank", "its rank in the target's row, or among the beams, from 1"},
     [](const StepFacts&, const DecidedNode& n) {
       return Value(n.verdict.rank >= 0 ? n.verdict.rank + 1.0 : kNotKnown);
     }},
    {{"gap", "distance to the cut of a beam search"},
     [](const StepFacts&, const DecidedNode& n) { return Value(1.0 * n.verdict.gap); }},
    {{"score", "sum of log p along its path"},
     [](const StepFacts&, const DecidedNode& n) { return Value(1.0 * n.row.score); }},
    {{"entropy", "of the target where it stands, in nats"},
     [](const StepFacts& f, const DecidedNode& n) { return Value(entropy_before(f, n)); }},
    {{"kind", "\"letters\", \"digits\", \"punctuation\", \"code\", \"white space\", \"bytes\""},
     [](const StepFacts& f, const DecidedNode& n) {
       return Value(std::string(to_string(viz::token_kind(token_of(f, n)))));
     }},
    {{"source", "what proposed it: the drafter's name, \"bonus\", \"greedy\", …"},
     [](const StepFacts& f, const DecidedNode& n) {
       return Value(std::string(f.source_of(n.row)));
     }},
};

const NodeName* known_name(const std::string& name) {
  for (const NodeName& one : kNodeNames)
    if (name == one.name.name) return &one;
  return nullptr;
}

}  // namespace

std::span<const ConditionName> node_names() {
  static const std::vector<ConditionName> names = [] {
    std::vector<ConditionName> all;
    for (const NodeName& one : kNodeNames) all.push_back(one.name);
    return all;
  }();
  return names;
}

std::vector<DecidedNode> decided_nodes(const StepFacts& facts) {
  struct Above {
    std::int32_t level = 0;
    bool open = true;  // nodes below it were reached
  };
  std::map<std::int32_t, Above> judged;
  for (const capture::VerdictRow& row : facts.rows.verdicts) {
    Above& above = judged[row.node];
    above.open =
        above.open && row.verdict != Verdict::kRejected && row.verdict != Verdict::kWithdrawn;
  }
  // Parents have smaller numbers, so they come first.
  std::map<std::int32_t, bool> reached;
  for (auto& [node, above] : judged) {
    const auto row = facts.node_of(node);
    const auto parent = row ? judged.find(row->parent) : judged.end();
    above.level = parent == judged.end() ? 1 : parent->second.level + 1;
    reached[node] = parent == judged.end() || parent->second.open;
    above.open = above.open && reached[node];
  }
  std::vector<DecidedNode> nodes;
  for (const capture::VerdictRow& row : facts.rows.verdicts)
    if (const auto node = facts.node_of(row.node))
      nodes.push_back({*node, row, judged[row.node].level, reached[row.node]});
  return nodes;
}

Value node_value(const StepFacts& facts, const DecidedNode& node, const std::string& name) {
  return known_name(name)->of(facts, node);
}

double metric_value(const StepFacts& facts, std::int32_t node, const std::string& metric) {
  double value = kNotKnown;
  bool own = false;
  for (const capture::MetricRow& row : facts.metrics) {
    if (row.name != metric || (row.node != node && row.node != -1)) continue;
    if (own && row.node == -1) continue;
    own = row.node == node;
    value = row.value;
  }
  return value;
}

Value sample_value(const std::string& name) {
  const NodeName* const node = known_name(name);
  if (!node) return 0.7310585786300049;  // a number that sums do not cancel
  static const std::function<std::optional<std::string_view>(std::int32_t)> no_piece =
      [](std::int32_t) { return std::nullopt; };
  StepFacts facts;
  facts.piece_of = no_piece;
  facts.source_of = [](const capture::NodeRow&) { return std::string_view(); };
  const Value value = node->of(facts, DecidedNode{});
  return std::holds_alternative<double>(value) ? Value(0.7310585786300049) : value;
}

}  // namespace triescope::app
