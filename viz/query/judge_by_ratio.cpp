#include "viz/query/judge_by_ratio.h"

#include <algorithm>
#include <map>

#include "core/capture/reasons.h"

namespace triescope::viz {
namespace {

using capture::ReasonRule;
using capture::VerdictRow;

// The trials of a step in their order, by the node above.
using Trials = std::map<std::int32_t, std::vector<VerdictRow>>;

Trials trials_of(const JudgedText& text, const StepProposals& step, std::int32_t number) {
  Trials trials;
  for (const VerdictRow& row : text.capture().verdicts(number)) {
    const auto parent = step.parents.find(row.node);
    // A recorder that gives its reasons in words has u, p and q alone.
    if (row.tick == capture::make_tick(number, capture::Phase::kAccept) && row.u >= 0 &&
        row.q >= 0 && parent != step.parents.end() &&
        (row.reason == capture::Reason::kNone || carries(row.reason, "ratio")))
      trials[parent->second].push_back(row);
  }
  return trials;
}

JudgedDrafts ended(const JudgedText& text, std::vector<std::int32_t> path, std::int32_t last,
                   bool same_text) {
  const bool ends = text.ends(last);
  const auto tokens = static_cast<std::int32_t>(path.size()) + !ends;
  return {.path = std::move(path), .tokens = tokens, .same_text = same_text || ends};
}

bool passed(const VerdictRow& row) {
  // A block's verdict is about the block: draft by draft it is the ratio that counts.
  if (rule_of(row.reason) == ReasonRule::kBlock)
    return row.q > 0 && static_cast<double>(row.u) <
                            std::min(1.0, static_cast<double>(row.p) / static_cast<double>(row.q));
  return row.verdict == capture::Verdict::kAccepted;
}

JudgedDrafts draft_by_draft(const JudgedText& text, const StepProposals& step, const Trials& trials,
                            const std::set<std::int32_t>& sent, bool one_a_node) {
  std::vector<std::int32_t> path;
  std::int32_t at = step.frontier;
  bool same = true;
  while (!text.ends(at)) {
    const auto here = trials.find(at);
    if (here == trials.end()) {
      const bool any_sent =
          std::ranges::any_of(sent, [&](std::int32_t node) { return step.parents.at(node) == at; });
      // A draft that no trial reached, or the end of the drafts.
      if (any_sent) return {.not_known = NotKnown::kDraw};
      break;
    }
    if (one_a_node && here->second.size() > 1) return {.not_known = NotKnown::kDraw};
    std::int32_t next = -1;
    bool left_out = false;
    for (const VerdictRow& row : here->second) {
      if (!sent.contains(row.node)) {
        left_out = true;
        continue;
      }
      // Without the trial before it, this one would have had another p.
      if (left_out) return {.not_known = NotKnown::kDraw};
      same = same && rule_of(row.reason) != ReasonRule::kBlock;
      if (passed(row)) {
        next = row.node;
        break;
      }
    }
    if (next < 0) {
      same = same && !left_out;  // with fewer refused ones, another token is drawn
      break;
    }
    path.push_back(next);
    at = next;
  }
  return ended(text, std::move(path), at, same && text.next(at) >= 0);
}

JudgedDrafts as_block(const JudgedText& text, const StepProposals& step, const Trials& trials,
                      const std::set<std::int32_t>& sent) {
  std::vector<VerdictRow> chain;
  std::int32_t at = step.frontier;
  bool cut = false;
  for (auto here = trials.find(at); here != trials.end() && !cut; here = trials.find(at)) {
    const VerdictRow& row = here->second.front();
    if (rule_of(row.reason) != ReasonRule::kBlock) return {.not_known = NotKnown::kTargetRow};
    cut = !sent.contains(row.node);
    if (!cut) chain.push_back(row);
    at = row.node;
  }
  if (chain.empty() && !cut && !sent.empty()) return {.not_known = NotKnown::kDraw};
  // The last draft's h is p of the block up to it.
  if (cut && !chain.empty()) chain.back().threshold = chain.back().value;
  std::size_t taken = chain.size();
  while (taken > 0 &&
         !(chain[taken - 1].u <= chain[taken - 1].threshold && chain[taken - 1].threshold > 0))
    --taken;
  std::vector<std::int32_t> path;
  for (std::size_t i = 0; i < taken; ++i) path.push_back(chain[i].node);
  const std::int32_t last = path.empty() ? step.frontier : path.back();
  // With fewer drafts fewer numbers are drawn, and the target's own token by another one.
  return ended(text, std::move(path), last, !cut);
}

}  // namespace

bool judges_by_ratio(const JudgedText& text, const std::string& verify) {
  return verify == "chain" || verify == "block" || verify == "published" ||
         verify == "multi_round" || (verify == "sample" && text.has_drawn_drafts());
}

JudgedDrafts judge_by_ratio(const JudgedText& text, const StepProposals& step, std::int32_t number,
                            const std::set<std::int32_t>& sent, const std::string& verify) {
  const Trials trials = trials_of(text, step, number);
  return verify == "block"
             ? as_block(text, step, trials, sent)
             : draft_by_draft(text, step, trials, sent, verify == "chain" || verify == "published");
}

}  // namespace triescope::viz
