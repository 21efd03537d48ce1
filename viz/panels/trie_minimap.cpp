#include "viz/panels/trie_minimap.h"

#include <algorithm>

#include "viz/draw/node_text.h"
#include "viz/panels/trie_picture.h"

namespace triescope::viz {
namespace {

constexpr float kSpotPx = 2;

}  // namespace

void TrieMinimap::find_spots(const TrieShape& shape, const Scene& scene) {
  spots_.clear();
  const auto columns = static_cast<std::size_t>(size_.x / kSpotPx),
             rows = static_cast<std::size_t>(size_.y / kSpotPx);
  if (columns == 0 || rows == 0) return;
  // A spot shows the best beam through it, else a live node, else a dead one.
  constexpr int kNothing = -1, kDead = 0, kAlive = 1, kBest = 1000;
  std::vector<int> weight(columns * rows, kNothing);
  const float x_scale = static_cast<float>(columns) / std::max(1.0f, shape.width()),
              y_scale =
                  static_cast<float>(rows) / static_cast<float>(std::max(1, shape.layout().rows()));
  for (std::size_t i = 0; i < shape.items().size(); ++i) {
    const std::int32_t node = shape.items()[i].node;
    const std::int32_t rank = shape.ranks()[TrieShape::index(node)];
    const int own = rank >= 0 ? kBest - std::min(rank, kBest - 2)
                    : is_dead(shape.states()[TrieShape::index(node)]) ? kDead
                                                                      : kAlive;
    const auto item = static_cast<std::int32_t>(i);
    const std::size_t column = TrieShape::index(shape.layout().column(item));
    const auto first = static_cast<std::size_t>(shape.column_x()[column] * x_scale),
               last = static_cast<std::size_t>(
                   (shape.column_x()[column + 1] - TrieShape::kGutterEm * 0.5f) * x_scale);
    const auto row =
        static_cast<std::size_t>((static_cast<float>(shape.layout().row(item)) + 0.5f) * y_scale);
    if (row >= rows) continue;
    for (std::size_t x = first; x <= last && x < columns; ++x)
      weight[row * columns + x] = std::max(weight[row * columns + x], own);
  }
  const auto color_of = [&](int w) {
    return w > kAlive ? scene.theme.beam(kBest - w)
                      : scene.theme.text_dim.with_alpha(w == kAlive ? 1 : 0.6f);
  };
  for (std::size_t y = 0; y < rows; ++y)
    for (std::size_t x = 0; x < columns;) {
      std::size_t end = x + 1;
      const int w = weight[y * columns + x];
      while (end < columns && weight[y * columns + end] == w) ++end;
      if (w != kNothing)
        spots_.push_back({{static_cast<float>(x) * kSpotPx, static_cast<float>(y) * kSpotPx,
                           static_cast<float>(end - x) * kSpotPx, kSpotPx},
                          color_of(w)});
      x = end;
    }
}

void TrieMinimap::draw(Canvas& canvas, Rect body, const TrieShape& shape, const TrieView& view,
                       std::span<const Rect> nodes, const Scene& scene) {
  const Point whole{shape.width() * scene.em * view.drawn_zoom,
                    static_cast<float>(shape.layout().rows()) * view.drawn_pitch};
  // The map stays in its corner while the mouse drags on it.
  map_ = Minimap::fit(body, whole, view.drawn, scene.em, nodes, map_.corner,
                      /*held=*/held_ && was_dragging_);
  if (!map_.shown()) return;
  const Rect box = map_.box;
  if (version_ != shape.version() || size_.x != box.w || size_.y != box.h ||
      theme_ != scene.theme.name) {
    version_ = shape.version();
    size_ = {box.w, box.h};
    theme_ = scene.theme.name;
    find_spots(shape, scene);
  }
  canvas.push_clip(box.inset(-2));
  canvas.fill_rect(box, scene.theme.surface.with_alpha(0.94f), 2);
  for (const Spot& spot : spots_)
    canvas.fill_rect({box.x + spot.area.x, box.y + spot.area.y, spot.area.w, spot.area.h},
                     spot.color);
  canvas.stroke_rect(box, scene.theme.border, 1, LineStyle::kSolid, 2);
  const Rect seen = map_.seen(body, view.drawn);
  canvas.fill_rect(seen, scene.theme.focus.with_alpha(0.12f));
  canvas.stroke_rect(seen, scene.theme.focus, 1.2f, LineStyle::kSolid, 0);
  canvas.pop_clip();
}

bool TrieMinimap::input(const Input& in, Rect body, TrieView& view) {
  const bool begins = in.dragging && !was_dragging_;
  was_dragging_ = in.dragging;
  if (begins) held_ = contains({in.mouse.x - in.drag_delta.x, in.mouse.y - in.drag_delta.y});
  const bool drags = in.dragging && held_ && map_.shown();
  const bool over = in.inside && contains(in.mouse);
  if (drags || (over && in.clicked)) {
    const Point to = map_.drawn_for(body, in.mouse);
    view.move(to.x - view.drawn.x, to.y - view.drawn.y);
  }
  return drags || over;
}

}  // namespace triescope::viz
