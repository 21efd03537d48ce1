#include "viz/query/draw_decision.h"

#include <algorithm>
#include <cmath>

#include "viz/query/beam_decision.h"

namespace triescope::viz {
namespace {

using capture::Phase;
using capture::Reason;
using capture::Stage;
using capture::Tick;

bool is_from_rest(Reason reason) {
  return carries(reason, "share") || reason == Reason::kDrawnFromTypical;
}

DrawToken& token_of(DrawDecision& decision, std::int32_t token) {
  for (DrawToken& row : decision.tokens)
    if (row.token == token) return row;
  decision.tokens.push_back({.token = token, .p = {}});
  return decision.tokens.back();
}

}  // namespace

DrawDecision draw_decision(const capture::Capture& capture, Tick cursor, std::int32_t node) {
  DrawDecision decision;
  const std::int32_t step = decision_step(capture, cursor);
  if (step < 0) return decision;
  const Tick accept = capture::make_tick(step, Phase::kAccept);
  const Tick until = std::min(cursor, capture::make_tick(step + 1, Phase::kDraft));
  if (node < 0) {
    const auto frontier = capture.frontier(step - 1);
    if (!frontier.empty()) node = frontier.front().node;
    // At prefill, the last node of the text with which a branch begins.
    if (step == 0)
      for (const capture::NodeRow& row : capture.nodes_at(accept)) node = row.node;
  }
  const auto candidates = capture.candidates(node, until);
  if (candidates.empty() || capture::step_of(candidates.front().tick) != step) return decision;
  decision.step = step;
  decision.node = node;
  decision.decided = cursor > accept;
  for (const capture::CandidateRow& row : candidates)
    token_of(decision, row.token).p = {std::exp(row.logprob)};

  const auto rows = capture.stages(node, step, until);
  for (const capture::StageRow& row : rows)
    if (row.stage < Stage::kProposal && std::find(decision.stages.begin(), decision.stages.end(),
                                                  row.stage) == decision.stages.end())
      decision.stages.push_back(row.stage);
  std::sort(decision.stages.begin(), decision.stages.end());
  for (const capture::StageRow& row : rows) {
    DrawToken& token = token_of(decision, row.token);
    token.p.resize(decision.stages.size() + 1, std::numeric_limits<float>::quiet_NaN());
    if (row.stage == Stage::kProposal) {
      token.q = row.p;
    } else if (row.stage == Stage::kDrawn) {
      token.drawn_p = row.p;
      token.at = row.at;
    } else {
      const auto stage = std::find(decision.stages.begin(), decision.stages.end(), row.stage);
      token.p[static_cast<std::size_t>(stage - decision.stages.begin()) + 1] = row.p;
    }
  }
  for (const std::int32_t child : capture.children(node)) {
    const capture::NodeRow& row = capture.nodes()[static_cast<std::size_t>(child)];
    if (!decision.decided || child_of(capture, node, row.token, accept + 1) != child) continue;
    decision.child = child;
    decision.token = row.token;
    // A finished text's last token has a second verdict; its draw is in the first.
    for (const capture::VerdictRow& first : capture.verdicts(step))
      if (first.node == child && first.tick == accept &&
          first.verdict != capture::Verdict::kFinished) {
        decision.u = first.u;
        decision.gumbel = first.reason == Reason::kGumbelArgmax;
        decision.from_rest = is_from_rest(first.reason);
      }
  }
  for (DrawToken& token : decision.tokens)
    token.p.resize(decision.stages.size() + 1, std::numeric_limits<float>::quiet_NaN());
  const auto last = [](const DrawToken& token) {
    const float p = token.p.size() > 1 ? token.p.back() : token.p.front();
    return std::isnan(p) ? (std::isnan(token.drawn_p) ? 0 : token.drawn_p) : p;
  };
  std::stable_sort(decision.tokens.begin(), decision.tokens.end(),
                   [&](const DrawToken& a, const DrawToken& b) {
                     if (last(a) != last(b)) return last(a) > last(b);
                     return (std::isnan(a.p[0]) ? 0 : a.p[0]) > (std::isnan(b.p[0]) ? 0 : b.p[0]);
                   });
  return decision;
}

}  // namespace triescope::viz
