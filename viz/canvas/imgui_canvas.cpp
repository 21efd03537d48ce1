#include "viz/canvas/imgui_canvas.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>

#include "core/base/unicode.h"
#include "viz/canvas/dash.h"
#include "viz/canvas/imgui_glyphs.h"
#include "viz/canvas/shaping.h"

namespace triescope::viz {
namespace {

ImU32 to_u32(Color c) { return IM_COL32(c.r, c.g, c.b, c.a); }
ImVec2 to_vec(Point p) { return {p.x, p.y}; }

// Glyphs are made for whole pixel sizes; in another size they would be scaled and blurred.
float whole_size(const TextStyle& style) { return std::max(1.0f, std::round(style.size_px)); }

}  // namespace

ImFont* ImGuiCanvas::font(FontFace face) const {
  ImFont* const chosen = face == FontFace::kUiBold ? fonts_.ui_bold
                         : face == FontFace::kMono ? fonts_.mono
                                                   : fonts_.ui;
  if (chosen) return chosen;
  return fonts_.ui ? fonts_.ui : ImGui::GetFont();
}

ImGuiCanvas::Line ImGuiCanvas::line_of(std::string_view utf8, FontFace face) {
  if (!fonts_.glyphs || !fonts_.glyphs->font(face) || !needs_shaping(utf8))
    return {font(face), utf8};
  whole_.clear();
  append_utf8(whole_, static_cast<char32_t>(fonts_.glyphs->character(utf8)));
  return {fonts_.glyphs->font(face), whole_};
}

void ImGuiCanvas::fill_rect(Rect r, Color c, float radius) {
  list_->AddRectFilled({r.x, r.y}, {r.right(), r.bottom()}, to_u32(c), radius);
}

void ImGuiCanvas::stroke_rect(Rect r, Color c, float width, LineStyle style, float radius) {
  if (style == LineStyle::kSolid) {
    list_->AddRect({r.x, r.y}, {r.right(), r.bottom()}, to_u32(c), radius, width);
    return;
  }
  // A dashed box keeps its corners square: at the sizes where it is used, the arc is shorter than a
  // dash.
  const std::array<Point, 5> corners{Point{r.x, r.y}, Point{r.right(), r.y},
                                     Point{r.right(), r.bottom()}, Point{r.x, r.bottom()},
                                     Point{r.x, r.y}};
  polyline(corners, c, width, style);
}

void ImGuiCanvas::line(Point a, Point b, Color c, float width, LineStyle style) {
  if (style == LineStyle::kSolid) {
    list_->AddLine(to_vec(a), to_vec(b), to_u32(c), width);
    return;
  }
  const std::array<Point, 2> points{a, b};
  polyline(points, c, width, style);
}

void ImGuiCanvas::polyline(std::span<const Point> points, Color c, float width, LineStyle style) {
  if (points.size() < 2) return;
  if (style == LineStyle::kSolid) {
    points_.clear();
    for (const Point p : points) points_.push_back(to_vec(p));
    list_->AddPolyline(points_.data(), static_cast<int>(points_.size()), to_u32(c), width);
    return;
  }
  for_each_dash(points, dash_pattern(style, width),
                [&](Point a, Point b) { list_->AddLine(to_vec(a), to_vec(b), to_u32(c), width); });
}

void ImGuiCanvas::fill_polygon(std::span<const Point> convex, Color c) {
  points_.clear();
  for (const Point p : convex) points_.push_back(to_vec(p));
  list_->AddConvexPolyFilled(points_.data(), static_cast<int>(points_.size()), to_u32(c));
}

void ImGuiCanvas::bezier(Point p0, Point c0, Point c1, Point p1, Color c, float width,
                         LineStyle style) {
  if (style == LineStyle::kSolid) {
    list_->AddBezierCubic(to_vec(p0), to_vec(c0), to_vec(c1), to_vec(p1), to_u32(c), width);
    return;
  }
  std::array<Point, kBezierSegments + 1> points;
  flatten_bezier(p0, c0, c1, p1, points);
  polyline(points, c, width, style);
}

void ImGuiCanvas::fill_circle(Point center, float radius, Color c) {
  list_->AddCircleFilled(to_vec(center), radius, to_u32(c));
}

void ImGuiCanvas::stroke_circle(Point center, float radius, Color c, float width) {
  list_->AddCircle(to_vec(center), radius, to_u32(c), 0, width);
}

void ImGuiCanvas::text(Point p, std::string_view utf8, const TextStyle& style) {
  if (utf8.empty()) return;
  // Positions are whole pixels: the atlas is blurred between them.
  const ImVec2 at{static_cast<float>(static_cast<int>(p.x + 0.5f)),
                  static_cast<float>(static_cast<int>(p.y + 0.5f))};
  const auto [face, line] = line_of(utf8, style.face);
  if (const float size = whole_size(style); smallest_ == 0 || size < smallest_) smallest_ = size;
  list_->AddText(face, whole_size(style), at, to_u32(style.color), line.data(),
                 line.data() + line.size());
}

Point ImGuiCanvas::measure(std::string_view utf8, const TextStyle& style) {
  const auto [face, line] = line_of(utf8, style.face);
  const ImVec2 extent =
      face->CalcTextSizeA(whole_size(style), FLT_MAX, 0, line.data(), line.data() + line.size());
  return {extent.x, extent.y};
}

void ImGuiCanvas::push_clip(Rect r) {
  list_->PushClipRect({r.x, r.y}, {r.right(), r.bottom()}, true);
}

void ImGuiCanvas::pop_clip() { list_->PopClipRect(); }

void ImGuiCanvas::term(Rect area, std::string_view name) {
  const ImVec2 low = list_->GetClipRectMin(), high = list_->GetClipRectMax();
  if (area.contains(mouse_) && mouse_.x >= low.x && mouse_.y >= low.y && mouse_.x < high.x &&
      mouse_.y < high.y)
    term_ = name;
}

}  // namespace triescope::viz
