// Two runs side by side: the active capture on the left, its partner on the right, one cursor
// and one focus for both.
#include <algorithm>

#include "app/window/workspace.h"

namespace triescope::app {

using capture::Tick;

Document* Workspace::partner() const { return comparing_ ? partner_ : nullptr; }

void Workspace::compare(Document* other) {
  comparing_ = true;
  if (other) partner_ = other;  // else the one before, if any
  if (partner_ == active_) partner_ = nullptr;
  if (!partner_)  // the newest of the others
    for (const auto& document : documents_)
      if (document.get() != active_) partner_ = document.get();
  lead_ = active_;
  compared_ = {};
  if (partner_) {
    partner_->playing = false;
    partner_->range = active_->range;
  }
  keep_tabs();
  layout = {preset_layout("compare"), {}};
  layout_name = "compare";
  maximised.clear();
}

void Workspace::stop_comparing() {
  comparing_ = false;
  if (active_) active_->focus.hovered = -1;
}

void Workspace::set_along(viz::Along along) {
  along_ = along;
  compared_ = {};
}

void Workspace::forget_partner(const Document* document) {
  if (partner_ == document) partner_ = nullptr;
  if (lead_ == document) lead_ = nullptr;
  compared_ = {};
}

void Workspace::set_cursor_of(Document& document, Tick tick) {
  document.cursor = std::clamp<Tick>(tick, 0, document.capture->end_tick());
  document.follow = false;
  document.playing = false;
  lead_ = &document;
}

void Workspace::set_range_of(Document& document,
                             std::optional<std::pair<std::int32_t, std::int32_t>> range) {
  document.range = range;
  if (!partner() || !active_) return;
  active_->range = partner_->range = range;
}

void Workspace::end_range(bool first) {
  const std::int32_t last = active_->capture->last_step();
  if (last < 0) return;
  const std::int32_t step =
      active_->cursor > 0 ? std::min(last, capture::step_of(active_->cursor - 1)) : 0;
  auto [from, to] = active_->range.value_or(std::pair{0, last});
  if (first)
    from = step, to = to < step ? last : to;
  else
    to = step, from = from > step ? 0 : from;
  set_range_of(*active_, std::pair{from, to});
}

bool Workspace::steps_in_partner(int direction) const {
  // The left run has ended and the right one goes on: step through the rest of it.
  const Document* other = partner();
  if (!other || !active_ || active_is_live() || active_->cursor < active_->capture->end_tick())
    return false;
  if (direction > 0) return other->cursor < other->capture->end_tick();
  return lead_ == other && other->cursor > viz::matching_tick(*active_->capture, active_->cursor,
                                                              *other->capture, along_);
}

void Workspace::sync_partner() {
  Document* other = partner();
  if (!active_ || !other) return;
  if (lead_ != other || active_->playing || (active_->follow && active_is_live())) lead_ = active_;
  Document& lead = *lead_;
  Document& led = lead_ == active_ ? *other : *active_;
  led.follow = led.follow && &led == active_ && active_is_live();
  const Compared key{lead_,
                     lead.cursor,
                     active_->capture->end_tick(),
                     other->capture->end_tick(),
                     active_->capture->counts().verdicts,
                     other->capture->counts().verdicts};
  if (key == compared_) return;
  compared_ = key;
  // A run that leads past the other's end leaves the other at its end.
  led.cursor = viz::matching_tick(*lead.capture, lead.cursor, *led.capture, along_);
  active_->twins =
      viz::find_twins(*active_->capture, active_->cursor, *other->capture, other->cursor);
  other->twins =
      viz::find_twins(*other->capture, other->cursor, *active_->capture, active_->cursor);
}

void Workspace::mirror_focus(const Document& from) {
  Document* other = partner();
  if (!other || !active_) return;
  Document& to = &from == active_ ? *other : *active_;
  to.focus.hovered = from.twins.counterpart_of(from.focus.hovered);
  to.focus.locked = from.twins.counterpart_of(from.focus.locked);
}

// The cursor where both runs have said it, the node locked in both.
void Workspace::show_difference(std::size_t index) {
  const std::int32_t node = active_->twins.partings[index], other = partner_->twins.partings[index];
  const auto behind = [](const Document& document, std::int32_t at) {
    const Tick tick = document.capture->nodes()[static_cast<std::size_t>(at)].tick;
    return std::min(capture::make_tick(capture::step_of(tick) + 1, capture::Phase::kDraft),
                    document.capture->end_tick());
  };
  // The one that is there later leads, so that neither stands before its token.
  const Tick here = behind(*active_, node), there = behind(*partner_, other);
  if (viz::matching_tick(*active_->capture, here, *partner_->capture, along_) >= there)
    set_cursor_of(*active_, here);
  else
    set_cursor_of(*partner_, there);
  active_->focus.locked = node;
  partner_->focus.locked = other;
}

bool Workspace::go_to_difference() {
  if (!partner() || active_->twins.partings.empty()) return false;
  show_difference(0);
  return true;
}

bool Workspace::go_to_next_difference() {
  if (!partner()) return false;
  const std::vector<std::int32_t>& all = active_->twins.partings;
  // Behind the one that is locked; else behind the cursor.
  const auto locked = std::ranges::find(all, active_->focus.locked);
  const auto next =
      locked != all.end() ? locked + 1 : std::ranges::find_if(all, [&](std::int32_t node) {
        return active_->capture->nodes()[static_cast<std::size_t>(node)].tick >= active_->cursor;
      });
  if (next == all.end()) return false;
  show_difference(static_cast<std::size_t>(next - all.begin()));
  return true;
}

}  // namespace triescope::app
