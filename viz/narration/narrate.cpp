// Chooses the story for a cursor.
#include <algorithm>

#include "viz/narration/story.h"

namespace triescope::viz {
namespace {

void tell_beginning(Story& story) {
  const capture::RunInfo& run = story.capture.run();
  const std::string model = story.model("name");
  story.say("begin.run", {word("method", title_of(run)),
                          word("model", model.empty() ? "the model" : model, to_panel("inspector")),
                          count("most", run.max_new_tokens)});
  const auto prompt = static_cast<std::int32_t>(run.prompt_tokens.size());
  if (prompt > 0)
    story.say("begin.prompt",
              {count("prompt", prompt, to_panel("text")), story.node("last", -1 - prompt)});
  if (run.kind == capture::RunKind::kBeams && run.width > 1)
    story.say("begin.score", {count("width", run.width, to_panel("trie"))});
  story.say("begin.next");
}

const capture::PhaseRow* phase_at(const capture::Capture& capture, capture::Tick tick) {
  const auto phases = capture.phases();
  const auto found = std::lower_bound(
      phases.begin(), phases.end(), tick,
      [](const capture::PhaseRow& row, capture::Tick at) { return row.tick < at; });
  return found != phases.end() && found->tick == tick ? &*found : nullptr;
}

// Tells a slice of a longer run that is looked at outside its steps.
void tell_gap(Story& story) {
  story.say("gap.here", {ordinal("step", story.step)});
  const auto phases = story.capture.phases();
  if (phases.empty()) return story.say("gap.empty");
  story.say("gap.steps",
            {ordinal("first", capture::step_of(phases.front().tick), to_step(phases.front().tick)),
             ordinal("last", capture::step_of(phases.back().tick), to_step(phases.back().tick))});
}

void tell_phase(Story& story) {
  switch (capture::phase_of(story.tick)) {
    case capture::Phase::kDraft:
      return tell_draft(story);
    case capture::Phase::kForward:
      return tell_forward(story);
    case capture::Phase::kAccept:
      return tell_accept(story);
    case capture::Phase::kCommit:
      return tell_commit(story);
    case capture::Phase::kObserve:
      return tell_observe(story);
  }
}

// Tells where the run broke off, which belongs to no phase.
void tell_break(Story& story) {
  if (story.cursor < story.capture.end_tick()) return;
  if (story.capture.status() == capture::RunStatus::kStopped) story.say("break.stopped");
  if (story.capture.status() == capture::RunStatus::kFailed)
    story.say("break.failed", {word("message", story.capture.status_message(), to_panel("log"))});
}

}  // namespace

Narration narrate(const capture::Capture& capture, capture::Tick cursor,
                  const Sentences& sentences) {
  Narration result;
  result.cursor = cursor;
  Story story(capture, std::max<capture::Tick>(cursor, 0), sentences);
  if (cursor <= 0) {
    tell_beginning(story);
    result.sentences = story.take();
    return result;
  }
  result.step = story.step;
  result.phase = capture::phase_of(story.tick);
  const capture::PhaseRow* const phase = phase_at(capture, story.tick);
  if (!phase) {
    tell_gap(story);
  } else {
    tell_break(story);
    tell_phase(story);
    for (const char* const sentence : {"phase.time", "phase.unrecorded"})
      if (story.said() < 2)
        story.say(sentence, {duration("time", static_cast<double>(phase->duration_us),
                                      to_panel("timeline"))});
  }
  result.sentences = story.take();
  return result;
}

}  // namespace triescope::viz
