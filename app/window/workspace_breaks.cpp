// Breakpoints: what stops a run, and the marks of what did.
#include <utility>

#include "app/window/workspace.h"

namespace triescope::app {

void Workspace::set_breakpoints(std::vector<Breakpoint> points) {
  for (const Breakpoint& point : points) check_breakpoint(point);
  breakpoints = std::move(points);
  session_.set_breakpoints(breakpoints);
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

void Workspace::show_break() {
  Document* const document = live_document();
  if (!document || live_->pause_reason.empty()) return;
  document->breaks.push_back({live_->next_tick, live_->pause_reason});
  if (live_->pause_node < 0) return;
  document->focus.locked = live_->pause_node;
  mirror_focus(*document);
}

}  // namespace triescope::app
