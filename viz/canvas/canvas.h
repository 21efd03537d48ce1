// Canvas: the one drawing interface, with two targets: ImDrawList (window) and Cairo (SVG, PDF,
// PNG). Panels draw on nothing else, so a picture on the screen and one in a paper come from the
// same code. Units: pixels, origin at the top left, y grows downwards. Nothing is drawn outside the
// innermost clip.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace triescope::viz {

struct Point {
  float x = 0, y = 0;
};

struct Rect {
  float x = 0, y = 0, w = 0, h = 0;
  float right() const { return x + w; }
  float bottom() const { return y + h; }
  bool contains(Point p) const { return p.x >= x && p.x < x + w && p.y >= y && p.y < y + h; }
  Rect inset(float d) const { return {x + d, y + d, w - 2 * d, h - 2 * d}; }
};

struct Color {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  constexpr Color with_alpha(float alpha) const {
    return {r, g, b, static_cast<std::uint8_t>(alpha * 255.0f + 0.5f)};
  }
};
constexpr Color rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8),
          static_cast<std::uint8_t>(hex), 255};
}

enum class LineStyle : std::uint8_t { kSolid, kDashed, kDotted };
enum class FontFace : std::uint8_t { kUi, kUiBold, kMono };

struct TextStyle {
  FontFace face = FontFace::kUi;
  float size_px = 14;
  Color color;
};

class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void fill_rect(Rect r, Color c, float radius = 0) = 0;
  virtual void stroke_rect(Rect r, Color c, float width = 1, LineStyle style = LineStyle::kSolid,
                           float radius = 0) = 0;
  virtual void line(Point a, Point b, Color c, float width = 1,
                    LineStyle style = LineStyle::kSolid) = 0;
  virtual void polyline(std::span<const Point> points, Color c, float width = 1,
                        LineStyle style = LineStyle::kSolid) = 0;
  virtual void fill_polygon(std::span<const Point> convex, Color c) = 0;
  virtual void bezier(Point p0, Point c0, Point c1, Point p1, Color c, float width = 1,
                      LineStyle style = LineStyle::kSolid) = 0;
  virtual void fill_circle(Point center, float radius, Color c) = 0;
  virtual void stroke_circle(Point center, float radius, Color c, float width = 1) = 0;
  // UTF-8, one line, top left at p. Characters that the font lacks are drawn as a box, never
  // dropped.
  virtual void text(Point p, std::string_view utf8, const TextStyle& style) = 0;
  virtual Point measure(std::string_view utf8, const TextStyle& style) = 0;  // width, height
  virtual void push_clip(Rect r) = 0;  // intersects with the current one
  virtual void pop_clip() = 0;
  // Says that the area shows a term of the glossary. Nothing is drawn, but a target that knows
  // where the mouse is, or that writes a document, can explain the term.
  virtual void term(Rect area, std::string_view name) { (void)area, (void)name; }
};

}  // namespace triescope::viz
