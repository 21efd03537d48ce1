// ElementCanvas: a Canvas that keeps what is drawn as a list of elements, for a page that draws
// them as SVG. Geometry is kept in whole tenths of a px, so that drawing at the same place in two
// steps gives the same element. Text stays text, together with the width for which it was laid out,
// because the reader's browser may have other fonts. Drawing outside of the clip is left out, and
// drawing that crosses its edge stands between a clip and its end. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "viz/canvas/cairo_canvas.h"
#include "viz/canvas/canvas.h"

namespace triescope::viz {

// The numbers are those of assets/handout/pictures.js. x and y are the top left of a box, the middle of a
// disc, the first point of a path, the beginning of a text's baseline. `shape` is the rest of a JSON
// array behind kind and colour; it is the same wherever the thing stands:
//
//   kFill    width, height, radius
//   kFrame   width, height, radius, line width, dash, gap
//   kStroke  "path", line width, dash, gap
//   kArea    "path"
//   kDisc    radius
//   kRing    radius, line width
//   kText    width, size, face (0 plain, 1 bold, 2 mono), "text"
//   kClip    width, height; what follows, up to kUnclip, shows within it alone
//   kUnclip
struct Element {
  enum class Kind : std::uint8_t {
    kFill,
    kFrame,
    kStroke,
    kArea,
    kDisc,
    kRing,
    kText,
    kClip,
    kUnclip
  };
  Kind kind = Kind::kFill;
  long x = 0, y = 0;  // in tenths of a px, like the numbers of `shape`
  std::string shape;
  Color color;
  Rect box;  // in px; the visible part
};

// Sizes of texts, kept over all pictures, because laying out takes the time.
class TextSizes {
 public:
  struct Size {
    Point size;
    float baseline = 0;
  };
  Size of(std::string_view utf8, const TextStyle& style);

 private:
  CairoCanvas cairo_{CairoFormat::kMeasure, "", 100, 100};
  std::map<std::tuple<int, float, std::string>, Size> known_;
};

class ElementCanvas final : public Canvas {
 public:
  explicit ElementCanvas(TextSizes& sizes) : sizes_(sizes) {}

  // The elements in the order of drawing. Empties the canvas.
  std::vector<Element> take();
  // The number of elements drawn before the first clip: a panel's legend.
  std::size_t before_clips() const { return any_clip_ ? before_clips_ : elements_.size(); }

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
  void add(Element::Kind kind, Point at, std::string shape, Color c, Rect box);
  void end_clip();

  TextSizes& sizes_;
  std::vector<Element> elements_;
  std::vector<Rect> clips_;
  bool clipped_ = false;  // the last element is inside `clip_`
  Rect clip_;
  bool any_clip_ = false;
  std::size_t before_clips_ = 0;
};

}  // namespace triescope::viz
