#include "viz/handout/element_canvas.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "viz/canvas/common_rect.h"
#include "viz/canvas/dash.h"
#include "viz/handout/page_data.h"

namespace triescope::viz {
namespace {

using Kind = Element::Kind;

constexpr float kSlackPx = 0.75f;  // extends a clip by less than anybody sees

long tenths(float px) { return std::lround(px * 10); }

std::string numbers(std::initializer_list<float> values) {
  std::string out;
  for (const float value : values) {
    if (!out.empty()) out += ',';
    out += std::to_string(tenths(value));
  }
  return out;
}

std::string line_of(float width, LineStyle style) {
  const DashPattern dash = dash_pattern(style, width);
  return numbers({width, dash.on, dash.off});
}

// Relative to `origin`, in whole tenths, as both of them are.
void add_point(std::string& path, char command, Point p, Point origin) {
  path += command;
  path += std::to_string(tenths(p.x) - tenths(origin.x)) + ' ' +
          std::to_string(tenths(p.y) - tenths(origin.y));
}

Rect around(std::span<const Point> points, float margin) {
  float left = points[0].x, top = points[0].y, right = left, bottom = top;
  for (const Point& p : points) {
    left = std::min(left, p.x);
    right = std::max(right, p.x);
    top = std::min(top, p.y);
    bottom = std::max(bottom, p.y);
  }
  return {left - margin, top - margin, right - left + 2 * margin, bottom - top + 2 * margin};
}

bool inside(Rect inner, Rect outer) {
  return inner.x >= outer.x - kSlackPx && inner.y >= outer.y - kSlackPx &&
         inner.right() <= outer.right() + kSlackPx && inner.bottom() <= outer.bottom() + kSlackPx;
}

bool same(Rect a, Rect b) { return a.x == b.x && a.y == b.y && a.w == b.w && a.h == b.h; }

std::string quoted_path(std::span<const Point> points) {
  std::string path = "\"";
  for (std::size_t i = 0; i < points.size(); ++i)
    add_point(path, i == 0 ? 'M' : 'L', points[i], points[0]);
  return path;
}

}  // namespace

TextSizes::Size TextSizes::of(std::string_view utf8, const TextStyle& style) {
  const auto [at, fresh] =
      known_.try_emplace({static_cast<int>(style.face), style.size_px, std::string(utf8)}, Size{});
  if (fresh) at->second = {cairo_.measure(utf8, style), cairo_.baseline(utf8, style)};
  return at->second;
}

std::vector<Element> ElementCanvas::take() {
  end_clip();
  any_clip_ = false;
  clips_.clear();
  return std::exchange(elements_, {});
}

void ElementCanvas::end_clip() {
  if (clipped_) elements_.push_back({Kind::kUnclip, 0, 0, "", {}, {}});
  clipped_ = false;
}

void ElementCanvas::add(Kind kind, Point at, std::string shape, Color c, Rect box) {
  if (c.a == 0) return;
  const long x = tenths(at.x), y = tenths(at.y);
  if (!clips_.empty()) {
    const Rect clip = clips_.back(), visible = common_rect(box, clip);
    if (visible.w <= 0 || visible.h <= 0) return;
    if (!inside(box, clip)) {
      if (!clipped_ || !same(clip, clip_)) {
        end_clip();
        elements_.push_back(
            {Kind::kClip, tenths(clip.x), tenths(clip.y), numbers({clip.w, clip.h}), {}, visible});
        clip_ = clip;
        clipped_ = true;
      }
      elements_.push_back({kind, x, y, std::move(shape), c, visible});
      return;
    }
  }
  end_clip();
  elements_.push_back({kind, x, y, std::move(shape), c, box});
}

void ElementCanvas::fill_rect(Rect r, Color c, float radius) {
  if (radius <= 0 && !clips_.empty()) r = common_rect(r, clips_.back());
  if (r.w <= 0 || r.h <= 0) return;
  add(Kind::kFill, {r.x, r.y}, numbers({r.w, r.h, std::min({radius, r.w / 2, r.h / 2})}), c, r);
}

void ElementCanvas::stroke_rect(Rect r, Color c, float width, LineStyle style, float radius) {
  add(Kind::kFrame, {r.x, r.y},
      numbers({r.w, r.h, std::min({radius, r.w / 2, r.h / 2})}) + ',' + line_of(width, style), c,
      r.inset(-width / 2));
}

void ElementCanvas::line(Point a, Point b, Color c, float width, LineStyle style) {
  const Point points[] = {a, b};
  polyline(points, c, width, style);
}

void ElementCanvas::polyline(std::span<const Point> points, Color c, float width, LineStyle style) {
  if (points.size() < 2) return;
  add(Kind::kStroke, points[0], quoted_path(points) + "\"," + line_of(width, style), c,
      around(points, width / 2));
}

void ElementCanvas::fill_polygon(std::span<const Point> convex, Color c) {
  if (convex.empty()) return;
  add(Kind::kArea, convex[0], quoted_path(convex) + "Z\"", c, around(convex, 0));
}

void ElementCanvas::bezier(Point p0, Point c0, Point c1, Point p1, Color c, float width,
                           LineStyle style) {
  const Point points[] = {p0, c0, c1, p1};
  std::string path = "\"";
  add_point(path, 'M', p0, p0);
  add_point(path, 'C', c0, p0);
  add_point(path, ' ', c1, p0);
  add_point(path, ' ', p1, p0);
  add(Kind::kStroke, p0, path + "\"," + line_of(width, style), c, around(points, width / 2));
}

void ElementCanvas::fill_circle(Point center, float radius, Color c) {
  add(Kind::kDisc, center, numbers({radius}), c, around({&center, 1}, radius));
}

void ElementCanvas::stroke_circle(Point center, float radius, Color c, float width) {
  add(Kind::kRing, center, numbers({radius, width}), c, around({&center, 1}, radius + width / 2));
}

void ElementCanvas::text(Point p, std::string_view utf8, const TextStyle& style) {
  if (utf8.empty()) return;
  const TextSizes::Size size = sizes_.of(utf8, style);
  const char* const face = style.face == FontFace::kMono     ? "2"
                           : style.face == FontFace::kUiBold ? "1"
                                                             : "0";
  add(Kind::kText, {p.x, p.y + size.baseline},
      numbers({size.size.x, static_cast<float>(kEmShare) * style.size_px}) + ',' + face + ',' +
          script_string(utf8),
      style.color, {p.x, p.y, size.size.x, size.size.y});
}

Point ElementCanvas::measure(std::string_view utf8, const TextStyle& style) {
  return sizes_.of(utf8, style).size;
}

void ElementCanvas::push_clip(Rect r) {
  if (!any_clip_) {
    any_clip_ = true;
    before_clips_ = elements_.size();
  }
  clips_.push_back(clips_.empty() ? r : common_rect(r, clips_.back()));
}

void ElementCanvas::pop_clip() { clips_.pop_back(); }

}  // namespace triescope::viz
