#include "app/window/workspace/transport.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace triescope::app {
namespace {

using capture::Tick;

constexpr double kPlaySecondsPerStep = 0.45;

// The first tick of the step after the one `cursor` stands in, at most `end`.
Tick next_step_tick(Tick cursor, Tick end) {
  const Tick next = (cursor / capture::kPhaseCount + 1) * capture::kPhaseCount;
  return std::min(next, end);
}

Tick previous_step_tick(Tick cursor) {
  if (cursor <= 0) return 0;
  return (cursor - 1) / capture::kPhaseCount * capture::kPhaseCount;
}

}  // namespace

const std::vector<double>& play_speeds() {
  static const std::vector<double> speeds = {0.25, 0.5, 1, 2, 4, 8};
  return speeds;
}

std::string play_speed_text(double speed) {
  char text[32];
  std::snprintf(text, sizeof text, "%g×", speed);
  return text;
}

void Transport::forward(By by) {
  Document* const shown = documents_.active();
  if (!shown) {
    run_.start(/*run_at_once=*/false);
    return;
  }
  const auto next = [&](const Document& document) {
    const Tick end = document.capture->end_tick();
    return by == By::kStep ? next_step_tick(document.cursor, end) : document.cursor + 1;
  };
  if (comparison_.steps_in_partner(+1))
    return documents_.set_cursor_of(*comparison_.partner(), next(*comparison_.partner()));
  documents_.lead = shown;
  const Tick end = shown->capture->end_tick();
  const bool live = documents_.active_is_live();
  if (shown->cursor < end) {
    shown->cursor = next(*shown);
    shown->playing = false;
    if (shown->cursor >= end && live) shown->follow = true;
    return;
  }
  if (!live) return;
  shown->follow = true;
  if (by == By::kStep)
    run_.host().step();
  else
    run_.host().step_phase();
}

void Transport::backward(By by) {
  Document* const shown = documents_.active();
  if (!shown) return;
  Document& moved = comparison_.steps_in_partner(-1) ? *comparison_.partner() : *shown;
  documents_.set_cursor_of(moved,
                           by == By::kStep ? previous_step_tick(moved.cursor) : moved.cursor - 1);
}

void Transport::step() { forward(By::kStep); }
void Transport::step_phase() { forward(By::kPhase); }
void Transport::back() { backward(By::kStep); }
void Transport::back_phase() { backward(By::kPhase); }

bool Transport::can_step() const {
  const Document *shown = documents_.active(), *other = comparison_.partner();
  if (!shown || shown->cursor < shown->capture->end_tick()) return true;
  if (other && other->cursor < other->capture->end_tick()) return true;
  return documents_.active_is_live() && run_.status().state != LiveState::kDone;
}

void Transport::toggle_run() {
  Document* const shown = documents_.active();
  if (!shown) {
    run_.start(/*run_at_once=*/true);
    return;
  }
  const LiveState state = run_.status().state;
  if (documents_.active_is_live() && state == LiveState::kRunning) return run_.host().pause();
  if (documents_.active_is_live() && state == LiveState::kPaused) {
    shown->follow = true;
    return run_.host().run();
  }
  // A finished capture is replayed, from the start if the cursor is at its end.
  if (shown->cursor >= shown->capture->end_tick()) shown->cursor = 0;
  shown->playing = !shown->playing;
  shown->follow = false;
  shown->next_play_time = 0;
}

void Transport::run_to_cursor() {
  const Document* const shown = documents_.active();
  if (!shown) return;
  const Tick target = shown->cursor;
  if (target >= shown->capture->end_tick()) return step();
  if (!shown->request) {
    log_.say(
        LogLevel::kError,
        "only a run that was started in this window can be re-run to the cursor; this capture is a "
        "file or a branch: set up the same run in the run bar and press Start");
    return;
  }
  // The request is copied: the documents may move while the new run is opened.
  const RunRequest again = *shown->request;
  if (run_.start(again, /*run_at_once=*/false)) run_.host().run_to(target);
}

bool Transport::can_run_to_cursor() const {
  const Document* const shown = documents_.active();
  if (!shown) return false;
  return shown->cursor < shown->capture->end_tick() ? shown->request.has_value()
                                                    : documents_.active_is_live();
}

void Transport::restart() {
  const Document* const shown = documents_.active();
  if (!shown || !shown->request) return go_to_start();
  // The request is copied: the documents may move while the new run is opened.
  const RunRequest again = *shown->request;
  run_.start(again, /*run_at_once=*/false);
}

bool Transport::play(double seconds) {
  if (!documents_.active() || !documents_.active()->playing) return false;
  Document& document = *documents_.active();
  if (document.next_play_time > seconds) return true;
  const Tick end = document.capture->end_tick();
  const Tick next = next_step_tick(document.cursor, end);
  document.next_play_time = seconds + kPlaySecondsPerStep / preferences_.play_speed;
  if (const auto stop = next_match(*document.capture, run_.breakpoints(), document.cursor, next)) {
    document.playing = false;
    show_stop(document, *stop);
    return true;
  }
  document.cursor = next;
  if (document.cursor >= end) document.playing = false;
  return true;
}

double Transport::seconds_to_next_play(double seconds) const {
  const Document* const shown = documents_.active();
  return shown && shown->playing ? std::max(0.0, shown->next_play_time - seconds) : -1;
}

void Transport::set_play_speed(double speed) {
  preferences_.play_speed = *std::ranges::min_element(play_speeds(), {}, [&](double one) {
    return std::abs(std::log(one / std::max(speed, 1e-6)));
  });
  // The step under way is cut short, so that it does not keep the old pace.
  if (documents_.active()) documents_.active()->next_play_time = 0;
  log_.say(LogLevel::kInfo, "playback speed: " + play_speed_text(preferences_.play_speed));
}

void Transport::change_play_speed(int direction) {
  const auto& speeds = play_speeds();
  const auto at = std::ranges::lower_bound(speeds, preferences_.play_speed) - speeds.begin();
  const auto last = static_cast<std::ptrdiff_t>(speeds.size()) - 1;
  set_play_speed(
      speeds[static_cast<std::size_t>(std::clamp(at + direction, std::ptrdiff_t{0}, last))]);
}

std::vector<viz::BreakMark> Transport::break_marks(const Document& document) const {
  std::vector<viz::BreakMark> marks = document.breaks;
  for (const Breakpoint& point : run_.breakpoints())
    if (point.enabled && point.kind == BreakKind::kStep)
      marks.push_back({capture::make_tick(static_cast<std::int32_t>(point.threshold) + 1,
                                          capture::Phase::kDraft),
                       describe(point), /*hit=*/false});
  return marks;
}

std::string Transport::stop_reason() const {
  const Document* const shown = documents_.active();
  if (!shown) return "";
  if (shown->stopped && shown->stopped->tick == shown->cursor && !shown->playing)
    return shown->stopped->hit.text;
  const LiveStatus& live = run_.status();
  return documents_.active_is_live() && live.state == LiveState::kPaused ? live.pause_reason : "";
}

// Puts the cursor at the stop, marks it in the timeline and selects its node.
void Transport::show_stop(Document& document, const BreakStop& stop) {
  documents_.set_cursor_of(document, stop.tick);
  document.stopped = stop;
  if (std::ranges::count(document.breaks, stop.tick, &viz::BreakMark::tick) == 0) {
    document.breaks.push_back({stop.tick, stop.hit.text});
    std::ranges::sort(document.breaks, {}, &viz::BreakMark::tick);
  }
  if (stop.hit.node < 0) return;
  document.focus.locked = stop.hit.node;
  comparison_.mirror_focus(document);
}

void Transport::go_to_match(int direction) {
  Document* const shown = documents_.active();
  if (!shown) return;
  const std::vector<Breakpoint>& breakpoints = run_.breakpoints();
  if (std::ranges::none_of(breakpoints, &Breakpoint::enabled))
    return log_.say(LogLevel::kInfo, "no breakpoint is set that a match could be of: F9 sets one");
  const capture::Capture& capture = *shown->capture;
  const auto stop = direction > 0
                        ? next_match(capture, breakpoints, shown->cursor, capture.end_tick())
                        : previous_match(capture, breakpoints, shown->cursor);
  if (!stop)
    return log_.say(LogLevel::kInfo, std::string("no breakpoint is hit ") +
                                         (direction > 0 ? "from here to the end of what is recorded"
                                                        : "before this place"));
  show_stop(*shown, *stop);
  const Tick hit = stop->tick - 1;
  log_.say(LogLevel::kInfo, "step " + std::to_string(capture::step_of(hit)) + ", " +
                                capture::to_string(capture::phase_of(hit)) + ": " + stop->hit.text);
}

}  // namespace triescope::app
