#include "viz/query/beam_decision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "core/capture/run_fields.h"

namespace triescope::viz {
namespace {

using capture::NodeState;
using capture::Phase;
using capture::Tick;
using Fate = BeamChoice::Fate;

constexpr float kNoProbability = std::numeric_limits<float>::quiet_NaN();

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

// The frontier nodes with which the step began, best first; at prefill the node for whose row it
// asks.
std::vector<std::int32_t> parents_of(const capture::Capture& capture, std::int32_t step) {
  std::vector<std::int32_t> parents;
  for (const capture::FrontierRow& row : capture.frontier(step - 1)) parents.push_back(row.node);
  if (step == 0)
    for (const capture::NodeRow& row : capture.nodes_at(capture::make_tick(0, Phase::kAccept)))
      parents.push_back(row.node);
  return parents;
}

// A step's candidates of a node that the cursor has seen.
std::span<const capture::CandidateRow> candidates_in(const capture::Capture& capture,
                                                     std::int32_t node, std::int32_t step,
                                                     Tick cursor) {
  const auto rows =
      capture.candidates(node, std::min(cursor, capture::make_tick(step + 1, Phase::kDraft)));
  return rows.empty() || capture::step_of(rows.front().tick) != step
             ? std::span<const capture::CandidateRow>()
             : rows;
}

// The tokens that end a text, from the run; in older captures, from how sequences ended.
std::set<std::int32_t> ending_tokens(const capture::Capture& capture) {
  const auto known = capture::RunFields(capture.run().model_json).integers("eos_token_ids");
  std::set<std::int32_t> tokens(known.begin(), known.end());
  for (const capture::SequenceRow& row : capture.sequences())
    if (row.finish == "eos" && !row.tokens.empty()) tokens.insert(row.tokens.back());
  return tokens;
}

Fate fate_of(NodeState state) {
  if (state == NodeState::kFinished) return Fate::kFinished;
  return state == NodeState::kPruned ? Fate::kPruned : Fate::kKept;
}

// Predicts what the search will do with the choices, best first (rules 4, 6, 8).
void foresee(std::vector<BeamChoice>& choices, std::int32_t width, bool at_cap,
             const std::set<std::int32_t>& ending) {
  std::int32_t live = 0, rank = 0;
  for (BeamChoice& choice : choices) {
    const bool ends = at_cap || ending.contains(choice.token);
    if (ends) {
      choice.fate = rank < width ? Fate::kFinishing : at_cap ? Fate::kOut : Fate::kLateEnd;
    } else if (live < width) {
      choice.fate = Fate::kNext;
      ++live;
    }
    ++rank;
  }
}

}  // namespace

bool searches_beams(const capture::Capture& capture) {
  return capture.run().kind == capture::RunKind::kBeams;
}

DecisionKind decision_kind(const capture::Capture& capture, std::int32_t step) {
  const Tick drafted = capture::make_tick(step, Phase::kDraft);
  const auto nodes = capture.nodes_at(drafted + 1);
  const auto hung = nodes.subspan(capture.nodes_at(drafted).size());
  if (std::ranges::any_of(hung, capture::is_draft)) return DecisionKind::kDrafts;
  if (!searches_beams(capture)) return DecisionKind::kDraw;
  const capture::RunFields settings(capture.run().settings_json);
  const auto parents = parents_of(capture, step);
  const std::int32_t depth =
      parents.empty() || step == 0 ? 0 : capture.nodes()[at(parents.front())].depth;
  return depth < settings.integer("sampled_tokens", 0) ? DecisionKind::kDraw : DecisionKind::kBeams;
}

std::int32_t decision_step(const capture::Capture&, Tick cursor) {
  if (cursor <= static_cast<Tick>(Phase::kForward)) return -1;
  return capture::step_of(cursor - 1 - static_cast<Tick>(Phase::kForward));
}

std::int32_t child_of(const capture::Capture& capture, std::int32_t parent, std::int32_t token,
                      Tick cursor, capture::Whose whose) {
  for (const std::int32_t child : capture.children(parent)) {
    const capture::NodeRow& row = capture.nodes()[at(child)];
    if (row.token != token || row.tick >= cursor || capture::is_probe(row)) continue;
    if (whose != capture::Whose::kTarget || !capture::is_draft(row)) return child;
    const auto verdict = capture.verdict_at(child, cursor);
    if (verdict && verdict->verdict != capture::Verdict::kRejected &&
        verdict->verdict != capture::Verdict::kWithdrawn)
      return child;
  }
  return -1;
}

BeamDecision beam_decision(const capture::Capture& capture, Tick cursor) {
  BeamDecision decision;
  const std::int32_t step = decision_step(capture, cursor);
  if (step < 0) return decision;
  const Tick accept = capture::make_tick(step, Phase::kAccept);
  decision.width = searches_beams(capture) ? capture.run().width : 0;
  decision.decided = cursor > accept;
  float limit = -std::numeric_limits<float>::infinity();
  bool at_cap = false;
  std::map<std::int32_t, std::size_t> order;  // by parent
  for (const std::int32_t parent : parents_of(capture, step)) {
    const auto rows = candidates_in(capture, parent, step, cursor);
    if (rows.empty()) continue;
    order.emplace(parent, order.size());
    const capture::NodeView view = capture.node_at(parent, accept);
    const float above = parent == 0 || std::isnan(view.row.score) ? 0 : view.row.score;
    at_cap = at_cap || view.row.depth + 1 >= capture.run().max_new_tokens;
    float lowest = std::numeric_limits<float>::infinity();
    for (const capture::CandidateRow& row : rows) {
      decision.choices.push_back({.parent = parent,
                                  .token = row.token,
                                  .logprob = row.logprob,
                                  .score = above + row.logprob});
      lowest = std::min(lowest, above + row.logprob);
    }
    limit = std::max(limit, lowest);
    if (!decision.decided) continue;
    // Chosen tokens that are not among the recorded best are added.
    for (const std::int32_t child : capture.children(parent)) {
      const capture::NodeRow& row = capture.nodes()[at(child)];
      if (row.tick != accept || capture::is_probe(row)) continue;
      const auto listed = [&](const BeamChoice& choice) {
        return choice.parent == parent && choice.token == row.token;
      };
      auto found = std::find_if(decision.choices.begin(), decision.choices.end(), listed);
      if (found == decision.choices.end())
        found = decision.choices.insert(
            decision.choices.end(),
            {.parent = parent, .token = row.token, .logprob = row.logprob, .score = row.score});
      if (found->child >= 0) continue;
      found->child = child;
      found->score = row.score;
      found->fate = fate_of(capture.state_at(child, accept + 1));
    }
  }
  if (order.empty()) return decision;
  decision.step = step;
  auto& choices = decision.choices;
  std::stable_sort(choices.begin(), choices.end(), [&](const BeamChoice& a, const BeamChoice& b) {
    if (a.score != b.score) return a.score > b.score;
    if (a.parent != b.parent) return order.at(a.parent) < order.at(b.parent);
    return a.token < b.token;
  });
  const auto ending = ending_tokens(capture);
  if (!decision.decided) foresee(choices, decision.width, at_cap, ending);
  for (std::size_t i = 0; i < choices.size(); ++i)
    if (choices[i].chosen()) decision.cut = i + 1;
  if (decision.decided)
    for (std::size_t i = 0; i < choices.size(); ++i)
      if (!choices[i].chosen() && (i < decision.cut || ending.contains(choices[i].token)))
        choices[i].fate = Fate::kLateEnd;

  const auto goes_on = [](const BeamChoice& choice) {
    return choice.fate == Fate::kNext || choice.fate == Fate::kKept;
  };
  const BeamChoice* last = nullptr;
  const BeamChoice* best_out = nullptr;
  for (const BeamChoice& choice : choices) {
    if (goes_on(choice)) last = &choice;
    if (!best_out && choice.fate == Fate::kOut) best_out = &choice;
  }
  // If all choices end, the last of them marks the cut.
  if (!last && decision.cut > 0) last = &choices[decision.cut - 1];
  for (BeamChoice& choice : choices)
    choice.gap = choice.fate == Fate::kOut ? (last ? last->score - choice.score : kNoProbability)
                 : choice.fate == Fate::kLateEnd ? kNoProbability
                 : best_out                      ? choice.score - best_out->score
                                                 : kNoProbability;
  decision.complete = static_cast<std::size_t>(
      std::find_if(choices.begin(), choices.end(),
                   [&](const BeamChoice& choice) { return choice.score < limit; }) -
      choices.begin());
  return decision;
}

}  // namespace triescope::viz
