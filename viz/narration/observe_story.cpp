// The observe phase: the step's figures, the text so far, and how the run ended.
#include <algorithm>
#include <cmath>

#include "viz/narration/story.h"

namespace triescope::viz {
namespace {

using capture::SequenceRow;

void tell_figures(Story& story, const capture::StepRow& step) {
  Value number = story.this_step("step");
  if (step.drafted > 0 && story.capture.run().kind == capture::RunKind::kBeams)
    return story.say(step.emitted > 1 ? "observe.levels" : "observe.levels.none",
                     {std::move(number), count("emitted", step.emitted, to_panel("trie")),
                      count("gained", step.emitted - 1, to_panel("verdict")),
                      count("drafted", step.drafted, to_panel("verdict"))});
  if (step.drafted > 0)
    return story.say(step.drafted == 1    ? "observe.draft"
                     : step.accepted == 0 ? "observe.drafts.none"
                                          : "observe.drafts",
                     {std::move(number), count("emitted", step.emitted, to_panel("text")),
                      count("accepted", step.accepted, to_panel("verdict")),
                      count("drafted", step.drafted, to_panel("verdict"))});
  if (step.frontier > 1)
    return story.say("observe.beams",
                     {std::move(number), count("beams", step.frontier, to_panel("trie"))});
  story.say("observe.plain", {std::move(number), count("emitted", step.emitted, to_panel("text"))});
}

// The sequences that the run returned at this tick, best first.
std::vector<const SequenceRow*> returned(const Story& story) {
  std::vector<const SequenceRow*> rows;
  for (const SequenceRow& row : story.capture.sequences())
    if (row.rank >= 0 && row.tick == story.tick) rows.push_back(&row);
  std::sort(rows.begin(), rows.end(),
            [](const SequenceRow* a, const SequenceRow* b) { return a->rank < b->rank; });
  return rows;
}

void tell_end(Story& story, const std::vector<const SequenceRow*>& results) {
  const SequenceRow& best = *results.front();
  const Value length =
      count("length", static_cast<std::int64_t>(best.tokens.size()), to_panel("text"));
  // A run without a tree has no node in the row.
  const Value last = best.node >= 0 && !best.tokens.empty()
                         ? token(story.capture, "node", best.tokens.back(), to_node(best.node))
                         : word("node", "its last token");
  if (best.finish == "eos")
    story.say("end.eos", {last, length});
  else if (best.finish == "length")
    story.say("end.length", {last, length});
  else
    story.say("end.other", {last, length});
  if (std::isnan(best.score)) return;
  const Value final_score = number("final", static_cast<double>(best.score),
                                   best.node >= 0 ? to_node(best.node) : to_panel("text"));
  if (results.size() == 1) return story.say("end.score", {final_score});
  story.say("end.scores", {final_score, count("returned", static_cast<std::int64_t>(results.size()),
                                              to_panel("text"))});
}

void tell_text(Story& story) {
  const auto frontier = story.capture.frontier(story.step);
  if (frontier.empty()) return;
  const std::int32_t best = frontier.front().node;
  const capture::NodeRow& row = story.capture.nodes()[static_cast<std::size_t>(best)];
  const Value node = story.node("node", best), length = count("length", row.depth, to_node(best));
  if (frontier.size() > 1)
    story.say("observe.best",
              {node, length,
               story.sum_log_p("score", static_cast<double>(frontier.front().score), best)});
  else if (const std::int32_t most = story.capture.run().max_new_tokens; most > 0)
    story.say("observe.text", {node, length, count("most", most)});
  else
    story.say("observe.text.open", {node, length});
}

void tell_time(Story& story) {
  std::int64_t total = 0, forward = 0;
  const auto phases = story.capture.phases();
  auto row = std::lower_bound(
      phases.begin(), phases.end(), capture::make_tick(story.step, capture::Phase::kDraft),
      [](const capture::PhaseRow& phase, capture::Tick at) { return phase.tick < at; });
  for (; row != phases.end() && row->tick <= story.tick; ++row) {
    total += row->duration_us;
    if (capture::phase_of(row->tick) == capture::Phase::kForward) forward = row->duration_us;
  }
  if (total == 0) return;  // a recorder that does not tell times
  const Value whole = duration("total", static_cast<double>(total), to_panel("timeline"));
  if (forward * 100 >= total * 95) return story.say("observe.time.forward", {whole});
  story.say("observe.time",
            {whole, duration("forward", static_cast<double>(forward), to_panel("timeline"))});
}

}  // namespace

void tell_observe(Story& story) {
  if (const auto step = story.capture.step(story.step)) tell_figures(story, *step);
  const auto results = returned(story);
  if (!results.empty()) tell_end(story, results);
  tell_decision(story);
  if (results.empty()) tell_text(story);
  tell_time(story);
}

}  // namespace triescope::viz
