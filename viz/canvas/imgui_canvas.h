// ImGuiCanvas: the drawing interface over an ImDrawList. It lives for one frame and borrows list
// and fonts. Window thread only. The verdict marks are shapes (viz/draw/drawing.h) and need no
// font.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "viz/canvas/canvas.h"

namespace triescope::viz {

class PangoGlyphs;

// Null faces fall back to `ui`, and that to Dear ImGui's current font. `glyphs` (borrowed)
// completes the faces and lays out texts that need it; without it every character is drawn by
// itself.
struct ImGuiFonts {
  ImFont* ui = nullptr;
  ImFont* ui_bold = nullptr;
  ImFont* mono = nullptr;
  PangoGlyphs* glyphs = nullptr;
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
  void term(Rect area, std::string_view name) override;

  // From here on the term under the mouse is remembered; "" = none was drawn there.
  void look_under(Point mouse) { mouse_ = mouse; }
  const std::string& term_under_mouse() const { return term_; }

  // The smallest text drawn so far, in px; 0 = no text was drawn.
  float smallest_text() const { return smallest_; }

 private:
  ImFont* font(FontFace face) const;
  // Font and text with which `utf8` is drawn: itself, or the one character that is the text laid
  // out.
  struct Line {
    ImFont* font;
    std::string_view text;
  };
  Line line_of(std::string_view utf8, FontFace face);

  ImDrawList* list_;
  ImGuiFonts fonts_;
  std::vector<ImVec2> points_;  // kept between calls, so a line needs no allocation
  std::string whole_;
  Point mouse_{-1, -1};
  std::string term_;
  float smallest_ = 0;
};

}  // namespace triescope::viz
