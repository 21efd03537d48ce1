#include "viz/handout/element_canvas.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "viz/canvas/dash.h"
#include "viz/handout/json_text.h"

namespace triescope::viz {
namespace {

using Kind = Element::Kind;

constexpr float kSlackPx = 0.75f;  // beyond a clip that nobody sees

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

void add_point(std::string& path, char command, Point p) {
  path += command;
  path += std::to_string(tenths(p.x)) + ' ' + std::to_string(tenths(p.y));
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

Rect common(Rect a, Rect b) {
  const float x = std::max(a.x, b.x), y = std::max(a.y, b.y);
  return {x, y, std::max(0.0f, std::min(a.right(), b.right()) - x),
          std::max(0.0f, std::min(a.bottom(), b.bottom()) - y)};
}

bool inside(Rect inner, Rect outer) {
  return inner.x >= outer.x - kSlackPx && inner.y >= outer.y - kSlackPx &&
         inner.right() <= outer.right() + kSlackPx && inner.bottom() <= outer.bottom() + kSlackPx;
}

bool same(Rect a, Rect b) { return a.x == b.x && a.y == b.y && a.w == b.w && a.h == b.h; }

std::string quoted_path(std::span<const Point> points) {
  std::string path = "\"";
  for (std::size_t i = 0; i < points.size(); ++i) add_point(path, i == 0 ? 'M' : 'L', points[i]);
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
  if (clipped_) elements_.push_back({Kind::kUnclip, "", {}, {}});
  clipped_ = false;
}

void ElementCanvas::add(Kind kind, std::string shape, Color c, Rect box) {
  if (c.a == 0) return;
  if (!clips_.empty()) {
    const Rect clip = clips_.back(), visible = common(box, clip);
    if (visible.w <= 0 || visible.h <= 0) return;
    if (!inside(box, clip)) {
      if (!clipped_ || !same(clip, clip_)) {
        end_clip();
        elements_.push_back({Kind::kClip, numbers({clip.x, clip.y, clip.w, clip.h}), {}, visible});
        clip_ = clip;
        clipped_ = true;
      }
      elements_.push_back({kind, std::move(shape), c, visible});
      return;
    }
  }
  end_clip();
  elements_.push_back({kind, std::move(shape), c, box});
}

void ElementCanvas::fill_rect(Rect r, Color c, float radius) {
  if (radius <= 0 && !clips_.empty()) r = common(r, clips_.back());
  if (r.w <= 0 || r.h <= 0) return;
  add(Kind::kFill, numbers({r.x, r.y, r.w, r.h, std::min({radius, r.w / 2, r.h / 2})}), c, r);
}

void ElementCanvas::stroke_rect(Rect r, Color c, float width, LineStyle style, float radius) {
  add(Kind::kFrame,
      numbers({r.x, r.y, r.w, r.h, std::min({radius, r.w / 2, r.h / 2})}) + ',' +
          line_of(width, style),
      c, r.inset(-width / 2));
}

void ElementCanvas::line(Point a, Point b, Color c, float width, LineStyle style) {
  const Point points[] = {a, b};
  polyline(points, c, width, style);
}

void ElementCanvas::polyline(std::span<const Point> points, Color c, float width, LineStyle style) {
  if (points.size() < 2) return;
  add(Kind::kStroke, quoted_path(points) + "\"," + line_of(width, style), c,
      around(points, width / 2));
}

void ElementCanvas::fill_polygon(std::span<const Point> convex, Color c) {
  if (convex.empty()) return;
  add(Kind::kArea, quoted_path(convex) + "Z\"", c, around(convex, 0));
}

void ElementCanvas::bezier(Point p0, Point c0, Point c1, Point p1, Color c, float width,
                           LineStyle style) {
  const Point points[] = {p0, c0, c1, p1};
  std::string path = "\"";
  add_point(path, 'M', p0);
  add_point(path, 'C', c0);
  add_point(path, ' ', c1);
  add_point(path, ' ', p1);
  add(Kind::kStroke, path + "\"," + line_of(width, style), c, around(points, width / 2));
}

void ElementCanvas::fill_circle(Point center, float radius, Color c) {
  add(Kind::kDisc, numbers({center.x, center.y, radius}), c, around({&center, 1}, radius));
}

void ElementCanvas::stroke_circle(Point center, float radius, Color c, float width) {
  add(Kind::kRing, numbers({center.x, center.y, radius, width}), c,
      around({&center, 1}, radius + width / 2));
}

void ElementCanvas::text(Point p, std::string_view utf8, const TextStyle& style) {
  if (utf8.empty()) return;
  const TextSizes::Size size = sizes_.of(utf8, style);
  const char* const face = style.face == FontFace::kMono     ? "2"
                           : style.face == FontFace::kUiBold ? "1"
                                                             : "0";
  add(Kind::kText,
      numbers(
          {p.x, p.y + size.baseline, size.size.x, static_cast<float>(kEmShare) * style.size_px}) +
          ',' + face + ',' + json_text(utf8),
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
  clips_.push_back(clips_.empty() ? r : common(r, clips_.back()));
}

void ElementCanvas::pop_clip() { clips_.pop_back(); }

}  // namespace triescope::viz
