#include "viz/handout/hit_boxes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace triescope::viz {
namespace {

constexpr float kTouchPx = 2.5f;  // cells of a grid are at most this far apart
constexpr float kRowPx = 8;       // fields of a row have centres at most this far apart

bool has_body(Element::Kind kind) {
  using Kind = Element::Kind;
  return kind == Kind::kFill || kind == Kind::kFrame || kind == Kind::kDisc || kind == Kind::kText;
}

bool holds(Rect outer, Rect inner) {
  return inner.x >= outer.x - 1 && inner.y >= outer.y - 1 && inner.right() <= outer.right() + 1 &&
         inner.bottom() <= outer.bottom() + 1;
}

Rect united(Rect a, Rect b) {
  const float x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return {x, y, std::max(a.right(), b.right()) - x, std::max(a.bottom(), b.bottom()) - y};
}

bool near(float a, float b) { return std::abs(a - b) < 0.5f; }

}  // namespace

std::vector<HitBox> hit_boxes(Panel& panel, Rect area, const Scene& scene,
                              std::span<const Element> drawn) {
  std::map<std::pair<long, long>, std::int32_t> known;  // by point, in tenths of a px
  const auto node_at = [&](Point p) {
    const auto [at, fresh] =
        known.try_emplace({std::lround(p.x * 10), std::lround(p.y * 10)}, std::int32_t{-1});
    if (fresh) {
      Input input;
      input.mouse = p;
      input.inside = input.node_only = true;
      at->second = panel.input(input, area, scene).hover.value_or(-1);
    }
    return at->second;
  };

  std::vector<HitBox> found;
  for (const Element& element : drawn) {
    if (!has_body(element.kind)) continue;
    const Rect r = element.box;
    const std::int32_t node = node_at({r.x + r.w / 2, r.y + r.h / 2});
    if (node == -1) continue;
    // A band over several nodes belongs to none of them.
    const float dx = std::min(2.0f, r.w / 4), dy = std::min(2.0f, r.h / 4);
    if (node_at({r.x + dx, r.y + dy}) != node || node_at({r.right() - dx, r.bottom() - dy}) != node)
      continue;
    found.push_back({node, r});
  }
  // Larger boxes come first, so that a box inside another is met after it.
  std::sort(found.begin(), found.end(), [](const HitBox& a, const HitBox& b) {
    return std::tuple(a.node, -a.box.w * a.box.h, a.box.x, a.box.y) <
           std::tuple(b.node, -b.box.w * b.box.h, b.box.x, b.box.y);
  });
  std::vector<HitBox> outer;
  std::size_t first = 0;  // the node's first
  for (const HitBox& hit : found) {
    if (!outer.empty() && outer.back().node != hit.node) first = outer.size();
    const bool within = std::any_of(outer.begin() + static_cast<std::ptrdiff_t>(first), outer.end(),
                                    [&](const HitBox& other) { return holds(other.box, hit.box); });
    if (!within) outer.push_back(hit);
  }
  // In a table's row, the gap between two fields of one node is the node's too.
  std::sort(outer.begin(), outer.end(), [](const HitBox& a, const HitBox& b) {
    return std::tuple(a.node, std::lround((a.box.y + a.box.h / 2) / kRowPx), a.box.x) <
           std::tuple(b.node, std::lround((b.box.y + b.box.h / 2) / kRowPx), b.box.x);
  });
  std::vector<HitBox> rows;
  for (const HitBox& hit : outer) {
    if (!rows.empty() && rows.back().node == hit.node) {
      Rect& row = rows.back().box;
      const float middle = hit.box.y + hit.box.h / 2;
      if (middle > row.y && middle < row.bottom() && hit.box.x >= row.right() &&
          node_at({(row.right() + hit.box.x) / 2, middle}) == hit.node) {
        row = united(row, hit.box);
        continue;
      }
    }
    rows.push_back(hit);
  }
  std::sort(rows.begin(), rows.end(), [](const HitBox& a, const HitBox& b) {
    return std::tuple(a.node, a.box.x, a.box.y) < std::tuple(b.node, b.box.x, b.box.y);
  });
  std::vector<HitBox> hits;
  for (const HitBox& hit : rows) {
    if (!hits.empty() && hits.back().node == hit.node && near(hits.back().box.x, hit.box.x) &&
        near(hits.back().box.w, hit.box.w) && hit.box.y - hits.back().box.bottom() < kTouchPx) {
      hits.back().box = united(hits.back().box, hit.box);
      continue;
    }
    hits.push_back(hit);
  }
  return hits;
}

}  // namespace triescope::viz
