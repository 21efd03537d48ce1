#include "viz/export/note_places.h"

#include <algorithm>
#include <cmath>

#include "viz/canvas/common_rect.h"

namespace triescope::viz {
namespace {

// Between two places where the mouse is tried: to read a row, to see whether it is worth that, and
// between rows.
constexpr float kAcrossPx = 2, kLookPx = 16, kDownPx = 12;

// The middles of the steps along one row of clicks, if these are an axis: from the first to the last
// step that is shown, along a straight line. A bar of a histogram also goes to a step, but to one
// that has nothing to do with its place.
std::map<std::int32_t, float> axis_of(const std::vector<std::pair<float, std::int32_t>>& row,
                                      std::int32_t first, std::int32_t last) {
  std::map<std::int32_t, std::pair<float, float>> ends;  // by step, px
  std::int32_t before = -1;
  for (const auto& [x, step] : row) {
    if (step < before) return {};
    before = step;
    const auto [found, is_new] = ends.emplace(step, std::pair(x, x));
    if (!is_new) found->second.second = x;
  }
  if (ends.size() < 2 || ends.begin()->first > first + 1 || ends.rbegin()->first < last - 1)
    return {};
  std::map<std::int32_t, float> middles;
  for (const auto& [step, at] : ends) middles[step] = (at.first + at.second) / 2;
  // The outer steps may be half as wide.
  const auto inner = ends.size() > 3 ? std::next(middles.begin()) : middles.begin();
  const auto outer = ends.size() > 3 ? std::prev(middles.end(), 2) : std::prev(middles.end());
  const float pitch =
      (outer->second - inner->second) / static_cast<float>(outer->first - inner->first);
  for (auto at = inner; at != middles.end() && at->first <= outer->first; ++at) {
    const float wanted = inner->second + pitch * static_cast<float>(at->first - inner->first);
    if (std::abs(at->second - wanted) > std::max(pitch, kAcrossPx) + kAcrossPx) return {};
  }
  return middles;
}

}  // namespace

void BoxCanvas::add(Rect r) {
  if (!clips_.empty()) r = common_rect(r, clips_.back());
  if (r.w > 0 && r.h > 0) boxes_.push_back(r);
}

void BoxCanvas::text(Point p, std::string_view utf8, const TextStyle& style) {
  const Point size = measure_.measure(utf8, style);
  const std::size_t before = boxes_.size();
  add({p.x, p.y, size.x, size.y});
  if (boxes_.size() > before) texts_.push_back(boxes_.back());
}

void BoxCanvas::push_clip(Rect r) {
  clips_.push_back(clips_.empty() ? r : common_rect(r, clips_.back()));
}

void BoxCanvas::pop_clip() { clips_.pop_back(); }

std::map<std::int32_t, Rect> node_boxes(Panel& panel, Rect area, const Scene& scene,
                                        const std::vector<Rect>& drawn,
                                        const std::vector<std::int32_t>& nodes) {
  const auto node_at = [&](float x, float y) {
    Input input;
    input.mouse = {x, y};
    input.inside = true;
    return panel.input(input, area, scene).hover.value_or(-1);
  };
  std::map<std::int32_t, Rect> boxes;
  for (const Rect& r : drawn) {
    const std::int32_t node = node_at(r.x + r.w / 2, r.y + r.h / 2);
    if (node == -1 || boxes.contains(node) || std::ranges::find(nodes, node) == nodes.end())
      continue;
    const float dx = std::min(2.0f, r.w / 4), dy = std::min(2.0f, r.h / 4);
    if (node_at(r.x + dx, r.y + dy) == node && node_at(r.right() - dx, r.bottom() - dy) == node)
      boxes[node] = r;
    if (boxes.size() == nodes.size()) break;
  }
  return boxes;
}

namespace {

using ClickRow = std::vector<std::pair<float, std::int32_t>>;  // px, step

// Parts of a row between which nothing answers: a plot beside another.
std::vector<ClickRow> parts_of(const ClickRow& row) {
  std::vector<ClickRow> parts;
  for (const auto& one : row) {
    if (parts.empty() || one.first - parts.back().back().first > 2.5f * kAcrossPx)
      parts.emplace_back();
    parts.back().push_back(one);
  }
  return parts;
}

}  // namespace

std::optional<StepPlot> step_plot(Panel& panel, Rect area, const Scene& scene) {
  const std::int32_t first = scene.range ? scene.range->first : 0,
                     last = scene.range ? std::min(scene.range->second, scene.shown_step())
                                        : scene.shown_step();
  const std::string state = panel.view_state();
  const auto clicked = [&](float x, float y) -> std::int32_t {
    Input input;
    input.mouse = {x, y};
    input.inside = input.clicked = true;
    const Reaction reaction = panel.input(input, area, scene);
    if (panel.view_state() != state) panel.set_view_state(state);  // it was a button
    return reaction.cursor && !reaction.lock && *reaction.cursor > 0
               ? capture::step_of(*reaction.cursor - 1)
               : -1;
  };
  const auto row_at = [&](float y, float apart) {
    ClickRow row;
    for (float x = area.x; x < area.right(); x += apart)
      if (const std::int32_t step = clicked(x, y); step >= 0) row.emplace_back(x, step);
    return row;
  };
  for (float y = area.y + kDownPx / 2; y < area.bottom(); y += kDownPx) {
    if (row_at(y, kLookPx).size() < 2) continue;
    for (const ClickRow& row : parts_of(row_at(y, kAcrossPx))) {
      std::map<std::int32_t, float> middles = axis_of(row, first, last);
      if (middles.empty()) continue;
      const auto [middle, step] = row[row.size() / 2];
      float top = y, bottom = y;
      while (top > area.y && clicked(middle, top - kAcrossPx) == step) top -= kAcrossPx;
      while (bottom < area.bottom() && clicked(middle, bottom + kAcrossPx) == step)
        bottom += kAcrossPx;
      return StepPlot{{row.front().first, top, row.back().first - row.front().first, bottom - top},
                      std::move(middles)};
    }
  }
  return std::nullopt;
}

}  // namespace triescope::viz
