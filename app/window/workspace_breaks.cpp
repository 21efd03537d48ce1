// Breakpoints: what stops a run, what would have, and the marks of what did.
#include <algorithm>
#include <utility>

#include "app/window/workspace.h"

namespace triescope::app {

void Workspace::set_breakpoints(std::vector<Breakpoint> points) {
  for (const Breakpoint& point : points) check_breakpoint(point);
  breakpoints = std::move(points);
  host_->set_breakpoints(breakpoints);
}

std::vector<viz::BreakMark> Workspace::break_marks(const Document& document) const {
  std::vector<viz::BreakMark> marks = document.breaks;
  for (const Breakpoint& point : breakpoints)
    if (point.enabled && point.kind == BreakKind::kStep)
      marks.push_back({capture::make_tick(static_cast<std::int32_t>(point.threshold) + 1,
                                          capture::Phase::kDraft),
                       describe(point), /*hit=*/false});
  return marks;
}

std::string Workspace::stop_reason() const {
  if (!active_) return "";
  if (active_->stopped && active_->stopped->tick == active_->cursor && !active_->playing)
    return active_->stopped->hit.text;
  return active_is_live() && live_->state == LiveState::kPaused ? live_->pause_reason : "";
}

void Workspace::show_stop(Document& document, const BreakStop& stop) {
  set_cursor_of(document, stop.tick);
  document.stopped = stop;
  if (std::ranges::count(document.breaks, stop.tick, &viz::BreakMark::tick) == 0) {
    document.breaks.push_back({stop.tick, stop.hit.text});
    std::ranges::sort(document.breaks, {}, &viz::BreakMark::tick);
  }
  if (stop.hit.node < 0) return;
  document.focus.locked = stop.hit.node;
  mirror_focus(document);
}

void Workspace::go_to_match(int direction) {
  if (!active_) return;
  if (std::ranges::none_of(breakpoints, &Breakpoint::enabled))
    return say(LogLevel::kInfo, "no breakpoint is set that a match could be of: F9 sets one");
  const capture::Capture& capture = *active_->capture;
  const auto stop = direction > 0
                        ? next_match(capture, breakpoints, active_->cursor, capture.end_tick())
                        : previous_match(capture, breakpoints, active_->cursor);
  if (!stop)
    return say(LogLevel::kInfo, std::string("no breakpoint is hit ") +
                                    (direction > 0 ? "from here to the end of what is recorded"
                                                   : "before this place"));
  show_stop(*active_, *stop);
  const capture::Tick hit = stop->tick - 1;
  say(LogLevel::kInfo, "step " + std::to_string(capture::step_of(hit)) + ", " +
                           capture::to_string(capture::phase_of(hit)) + ": " + stop->hit.text);
}

void Workspace::show_break() {
  Document* const document = live_document();
  if (!document || live_->pause_reason.empty()) return;
  document->breaks.push_back({live_->next_tick, live_->pause_reason});
  if (live_->pause_node < 0) return;
  document->focus.locked = live_->pause_node;
  mirror_focus(*document);
}

}  // namespace triescope::app
