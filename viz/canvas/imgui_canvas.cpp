#include "viz/canvas/imgui_canvas.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace triescope::viz {
namespace {

ImU32 color(Color c) { return IM_COL32(c.r, c.g, c.b, c.a); }
ImVec2 vec(Point p) { return {p.x, p.y}; }

constexpr float kDash = 4, kDashGap = 3, kDot = 1.5f, kDotGap = 3;  // px
constexpr int kBezierPoints = 16;
constexpr float kMaxDashedPx = 20000;

}  // namespace

ImFont* ImGuiCanvas::font(FontFace face) const {
  ImFont* wanted = face == FontFace::kMono     ? fonts_.mono
                   : face == FontFace::kUiBold ? fonts_.ui_bold
                                               : fonts_.ui;
  return wanted ? wanted : ImGui::GetFont();
}

void ImGuiCanvas::fill_rect(Rect r, Color c, float radius) {
  list_->AddRectFilled({r.x, r.y}, {r.right(), r.bottom()}, color(c), radius);
}

void ImGuiCanvas::stroke_rect(Rect r, Color c, float width, LineStyle style, float radius) {
  if (style == LineStyle::kSolid) {
    list_->AddRect({r.x, r.y}, {r.right(), r.bottom()}, color(c), radius, 0, width);
    return;
  }
  const Point corners[] = {
      {r.x, r.y}, {r.right(), r.y}, {r.right(), r.bottom()}, {r.x, r.bottom()}, {r.x, r.y}};
  polyline(corners, c, width, style);
}

void ImGuiCanvas::line(Point a, Point b, Color c, float width, LineStyle style) {
  if (style == LineStyle::kSolid) {
    list_->AddLine(vec(a), vec(b), color(c), width);
    return;
  }
  const Point points[] = {a, b};
  polyline(points, c, width, style);
}

void ImGuiCanvas::polyline(std::span<const Point> points, Color c, float width, LineStyle style) {
  if (points.size() < 2) return;
  if (style == LineStyle::kSolid) {
    for (const Point& p : points) list_->PathLineTo(vec(p));
    list_->PathStroke(color(c), 0, width);
    return;
  }
  const float on = style == LineStyle::kDashed ? kDash : kDot,
              off = style == LineStyle::kDashed ? kDashGap : kDotGap;
  float phase = 0;  // within on + off
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point a = points[i - 1], b = points[i];
    const float length = std::min(kMaxDashedPx, std::hypot(b.x - a.x, b.y - a.y));
    if (length <= 0) continue;
    const Point unit{(b.x - a.x) / length, (b.y - a.y) / length};
    for (float at = 0; at < length;) {
      const bool drawing = phase < on;
      const float step = std::min(length - at, (drawing ? on : on + off) - phase);
      if (drawing)
        list_->AddLine({a.x + unit.x * at, a.y + unit.y * at},
                       {a.x + unit.x * (at + step), a.y + unit.y * (at + step)}, color(c), width);
      at += std::max(step, 0.01f);
      phase = std::fmod(phase + std::max(step, 0.01f), on + off);
    }
  }
}

void ImGuiCanvas::fill_polygon(std::span<const Point> convex, Color c) {
  for (const Point& p : convex) list_->PathLineTo(vec(p));
  list_->PathFillConvex(color(c));
}

void ImGuiCanvas::bezier(Point p0, Point c0, Point c1, Point p1, Color c, float width,
                         LineStyle style) {
  if (style == LineStyle::kSolid) {
    list_->AddBezierCubic(vec(p0), vec(c0), vec(c1), vec(p1), color(c), width);
    return;
  }
  Point points[kBezierPoints + 1];
  for (int i = 0; i <= kBezierPoints; ++i) {
    const float t = static_cast<float>(i) / kBezierPoints, u = 1 - t;
    const float a = u * u * u, b = 3 * u * u * t, d = 3 * u * t * t, e = t * t * t;
    points[i] = {a * p0.x + b * c0.x + d * c1.x + e * p1.x,
                 a * p0.y + b * c0.y + d * c1.y + e * p1.y};
  }
  polyline(points, c, width, style);
}

void ImGuiCanvas::fill_circle(Point center, float radius, Color c) {
  list_->AddCircleFilled(vec(center), radius, color(c));
}
void ImGuiCanvas::stroke_circle(Point center, float radius, Color c, float width) {
  list_->AddCircle(vec(center), radius, color(c), 0, width);
}

void ImGuiCanvas::text(Point p, std::string_view utf8, const TextStyle& style) {
  // Whole pixels: glyphs are rasterised for them.
  list_->AddText(font(style.face), style.size_px, {std::round(p.x), std::round(p.y)},
                 color(style.color), utf8.data(), utf8.data() + utf8.size());
}

Point ImGuiCanvas::measure(std::string_view utf8, const TextStyle& style) {
  const ImVec2 size =
      font(style.face)
          ->CalcTextSizeA(style.size_px, FLT_MAX, 0, utf8.data(), utf8.data() + utf8.size());
  return {size.x, std::max(size.y, style.size_px)};
}

void ImGuiCanvas::push_clip(Rect r) {
  list_->PushClipRect({r.x, r.y}, {r.right(), r.bottom()}, true);
}
void ImGuiCanvas::pop_clip() { list_->PopClipRect(); }

}  // namespace triescope::viz
