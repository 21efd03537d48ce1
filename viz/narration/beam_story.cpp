// Accept's decisions about beams: which go on, by what margin, which end, which die out.
#include <algorithm>

#include "viz/narration/story.h"

namespace triescope::viz {
namespace {

using capture::Reason;
using capture::Verdict;
using capture::VerdictRow;

void tell_expansion(Story& story) {
  const auto live = story.step == 0
                        ? std::int64_t{1}
                        : static_cast<std::int64_t>(story.capture.frontier(story.step - 1).size());
  const double vocabulary = story.model("vocab_size", 0);
  const capture::RunInfo& run = story.capture.run();
  if (live == 0 || vocabulary < 1 || run.kind != capture::RunKind::kBeams)
    return story.say("beams.expand.unknown");
  story.say(live == 1 ? "beams.expand.one" : "beams.expand",
            {count("live", live, to_panel("trie")),
             count("vocabulary", static_cast<std::int64_t>(vocabulary), to_panel("candidates")),
             count("width", run.width, to_panel("trie"))});
}

std::vector<Value> beam(const Story& story, const VerdictRow& row) {
  const std::int32_t parent = story.capture.nodes()[static_cast<std::size_t>(row.node)].parent;
  return {story.node("node", row.node), story.node("parent", parent),
          story.sum_log_p("score", static_cast<double>(row.score), row.node)};
}

// The beams that the next step begins with, best first.
std::vector<VerdictRow> kept_of(const Story& story, std::span<const VerdictRow> verdicts) {
  const auto frontier = story.capture.frontier(story.step);
  std::vector<VerdictRow> kept;
  for (const VerdictRow& row : verdicts) {
    const bool goes_on = std::any_of(frontier.begin(), frontier.end(),
                                     [&](const auto& leaf) { return leaf.node == row.node; });
    if (row.verdict == Verdict::kKept && goes_on) kept.push_back(row);
  }
  return kept;
}

void tell_cut(Story& story, const VerdictRow& last) {
  if (last.reason != Reason::kBeamKept) return;
  story.say("beams.cut",
            {story.node("node", last.node),
             number("gap", static_cast<double>(last.gap), to_node(last.node), 2),
             number("limit", static_cast<double>(last.threshold), to_panel("candidates"), 2)});
}

bool is_lost(const VerdictRow& row) {
  return row.verdict == Verdict::kPruned || row.verdict == Verdict::kRejected;
}

void tell_kept(Story& story, std::span<const VerdictRow> kept) {
  if (kept.empty()) return story.say("beams.none_kept");
  std::vector<std::vector<Value>> items;
  for (const VerdictRow& row : kept) items.push_back(beam(story, row));
  story.say("beams.kept", {count("kept", static_cast<std::int64_t>(items.size()), to_panel("trie")),
                           story.list("beams", "item.beam", items, 3)});
  tell_cut(story, kept.back());
}

void tell_finished(Story& story, std::span<const VerdictRow> verdicts) {
  std::vector<const VerdictRow*> rows;
  for (const VerdictRow& row : verdicts)
    if (row.verdict == Verdict::kFinished) rows.push_back(&row);
  if (rows.empty()) return;
  if (rows.size() == 1 || !rows.front()->why.empty()) {
    tell_reason(story, *rows.front());
    return;
  }
  std::vector<std::vector<Value>> items;
  for (const VerdictRow* const row : rows)
    items.push_back({story.node("node", row->node),
                     number("final", static_cast<double>(row->score), to_node(row->node))});
  story.say(rows.front()->reason == Reason::kBeamMaxTokens ? "beams.reached_cap" : "beams.finished",
            {story.list("texts", "item.final", items, 3)});
}

void tell_lost(Story& story, std::span<const VerdictRow> verdicts) {
  const VerdictRow* first = nullptr;
  std::vector<std::vector<Value>> others;
  for (const VerdictRow& row : verdicts) {
    if (!is_lost(row)) continue;
    if (first)
      others.push_back({story.node("node", row.node)});
    else
      first = &row;
  }
  if (!first) return;
  if (!tell_reason(story, *first)) others.insert(others.begin(), {story.node("node", first->node)});
  if (!others.empty()) story.say("beams.lost", {story.list("nodes", "item.node", others)});
}

}  // namespace

void tell_beams(Story& story, std::span<const VerdictRow> verdicts) {
  tell_expansion(story);
  tell_kept(story, kept_of(story, verdicts));
  tell_finished(story, verdicts);
  tell_lost(story, verdicts);
}

void tell_beam_decision(Story& story, std::span<const VerdictRow> verdicts) {
  const auto kept = kept_of(story, verdicts);
  if (!kept.empty()) tell_cut(story, kept.back());
  tell_lost(story, verdicts);
}

}  // namespace triescope::viz
