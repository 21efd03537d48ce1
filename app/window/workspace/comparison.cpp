#include "app/window/workspace/comparison.h"

#include <algorithm>

namespace triescope::app {

using capture::Tick;

void Comparison::start(Document* other) {
  documents_.comparing = true;
  Document* const active = documents_.active();
  Document*& partner = documents_.partner;
  if (other) partner = other;  // else the partner before, if there is one
  if (partner == active) partner = nullptr;
  if (!partner)  // the newest other document
    for (const auto& document : documents_.all())
      if (document.get() != active) partner = document.get();
  documents_.lead = active;
  compared_ = {};
  if (partner) {
    partner->playing = false;
    partner->range = active->range;
  }
  layouts_.use("compare");
}

void Comparison::stop() {
  documents_.comparing = false;
  if (documents_.active()) documents_.active()->focus.hovered = -1;
}

void Comparison::lock_focus(std::int32_t node) {
  if (!documents_.active()) return;
  documents_.active()->focus.locked = node;
  mirror_focus(*documents_.active());
}

void Comparison::set_along(viz::Along along) {
  along_ = along;
  compared_ = {};
}

void Comparison::set_range_of(Document& document, viz::StepRange range) {
  document.range = range;
  if (!partner() || !documents_.active()) return;
  documents_.active()->range = documents_.partner->range = range;
}

void Comparison::end_range(bool first) {
  Document& shown = *documents_.active();
  const std::int32_t last = shown.capture->last_step();
  if (last < 0) return;
  const std::int32_t step =
      shown.cursor > 0 ? std::min(last, capture::step_of(shown.cursor - 1)) : 0;
  auto [from, to] = shown.range.value_or(std::pair{0, last});
  if (first)
    from = step, to = to < step ? last : to;
  else
    to = step, from = from > step ? 0 : from;
  set_range_of(shown, std::pair{from, to});
}

bool Comparison::steps_in_partner(int direction) const {
  const Document *shown = documents_.active(), *other = partner();
  if (!other || !shown || documents_.active_is_live() || shown->cursor < shown->capture->end_tick())
    return false;
  if (direction > 0) return other->cursor < other->capture->end_tick();
  return documents_.lead == other &&
         other->cursor >
             viz::matching_tick(*shown->capture, shown->cursor, *other->capture, along_);
}

void Comparison::sync() {
  Document *const left = documents_.active(), *const right = partner();
  if (!left || !right) return;
  const bool follows = left->follow && documents_.active_is_live();
  if (documents_.lead != right || left->playing || follows) documents_.lead = left;
  Document& lead = *documents_.lead;
  Document& led = &lead == left ? *right : *left;
  led.follow = led.follow && &led == left && documents_.active_is_live();
  const Compared key{left->serial,
                     right->serial,
                     lead.serial,
                     lead.cursor,
                     left->capture->end_tick(),
                     right->capture->end_tick(),
                     left->capture->counts().verdicts,
                     right->capture->counts().verdicts};
  if (key == compared_) return;
  compared_ = key;
  // A run that leads past the other's end leaves the other at its end.
  led.cursor = viz::matching_tick(*lead.capture, lead.cursor, *led.capture, along_);
  left->twins = viz::find_twins(*left->capture, left->cursor, *right->capture, right->cursor);
  right->twins = viz::find_twins(*right->capture, right->cursor, *left->capture, left->cursor);
}

void Comparison::mirror_focus(const Document& from) {
  Document *const left = documents_.active(), *const right = partner();
  if (!left || !right) return;
  Document& to = &from == left ? *right : *left;
  to.focus.hovered = from.twins.counterpart_of(from.focus.hovered);
  to.focus.locked = from.twins.counterpart_of(from.focus.locked);
}

// Puts the cursor where both runs have passed it and locks the node in both.
void Comparison::show_difference(std::size_t index) {
  Document &left = *documents_.active(), &right = *documents_.partner;
  const std::int32_t node = left.twins.partings[index], other = right.twins.partings[index];
  const auto behind = [](const Document& document, std::int32_t at) {
    const Tick tick = document.capture->nodes()[static_cast<std::size_t>(at)].tick;
    return std::min(capture::make_tick(capture::step_of(tick) + 1, capture::Phase::kDraft),
                    document.capture->end_tick());
  };
  // The run that gets there later leads, so that neither stands before its token.
  const Tick here = behind(left, node), there = behind(right, other);
  if (viz::matching_tick(*left.capture, here, *right.capture, along_) >= there)
    documents_.set_cursor_of(left, here);
  else
    documents_.set_cursor_of(right, there);
  left.focus.locked = node;
  right.focus.locked = other;
}

bool Comparison::go_to_difference() {
  if (!partner() || documents_.active()->twins.partings.empty()) return false;
  show_difference(0);
  return true;
}

bool Comparison::go_to_next_difference() {
  if (!partner()) return false;
  const Document& left = *documents_.active();
  const std::vector<std::int32_t>& all = left.twins.partings;
  // The search begins behind the locked difference, else behind the cursor.
  const auto locked = std::ranges::find(all, left.focus.locked);
  const auto next =
      locked != all.end() ? locked + 1 : std::ranges::find_if(all, [&](std::int32_t node) {
        return left.capture->nodes()[static_cast<std::size_t>(node)].tick >= left.cursor;
      });
  if (next == all.end()) return false;
  show_difference(static_cast<std::size_t>(next - all.begin()));
  return true;
}

}  // namespace triescope::app
