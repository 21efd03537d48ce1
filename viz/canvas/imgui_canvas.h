// ImGuiCanvas: the drawing interface over an ImDrawList. Lives for one frame; borrows list and
// fonts. Window thread only. The fonts carry the glyphs; a character that none of them has is drawn
// as the font's fallback. The verdict marks are shapes (viz/look/drawing.h) and need no font.
#pragma once

#include <imgui.h>

#include <array>
#include <vector>

#include "viz/canvas/canvas.h"

namespace triescope::viz {

// Null faces fall back to `ui`, and that to Dear ImGui's current font. The faces are made for the
// text size; smaller letters drawn from them are blurred, so there are sizes below it too: a text
// is drawn in the size nearest to what it asks for, if that is within a tenth.
struct ImGuiFonts {
  struct Sized {
    ImFont* font = nullptr;
    float size_px = 0;
  };
  ImFont* ui = nullptr;
  ImFont* ui_bold = nullptr;
  ImFont* mono = nullptr;
  std::array<Sized, 2> ui_small{}, mono_small{};  // optional
};

class ImGuiCanvas final : public Canvas {
 public:
  ImGuiCanvas(ImDrawList* list, ImGuiFonts fonts) : list_(list), fonts_(fonts) {}

  void fill_rect(Rect r, Color c, float radius) override;
  void stroke_rect(Rect r, Color c, float width, LineStyle style, float radius) override;
  void line(Point a, Point b, Color c, float width, LineStyle style) override;
  void polyline(std::span<const Point> points, Color c, float width, LineStyle style) override;
  void fill_polygon(std::span<const Point> convex, Color c) override;
  void bezier(Point p0, Point c0, Point c1, Point p1, Color c, float width,
              LineStyle style) override;
  void fill_circle(Point center, float radius, Color c) override;
  void stroke_circle(Point center, float radius, Color c, float width) override;
  void text(Point p, std::string_view utf8, const TextStyle& style) override;
  Point measure(std::string_view utf8, const TextStyle& style) override;
  void push_clip(Rect r) override;
  void pop_clip() override;

 private:
  ImGuiFonts::Sized font(const TextStyle& style) const;

  ImDrawList* list_;
  ImGuiFonts fonts_;
  std::vector<ImVec2> points_;  // kept between calls: no allocation per line
};

}  // namespace triescope::viz
