// CairoCanvas: a Canvas over a Cairo surface: SVG, PDF or PNG. Text goes through Pango, which finds
// a font for every character.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "viz/canvas/canvas.h"

namespace triescope::viz {

enum class CairoFormat : std::uint8_t { kSvg, kPdf, kPng, kMeasure };

// The em square's share of a text's size, in every target.
inline constexpr double kEmShare = 0.92;

class CairoCanvas final : public Canvas {
 public:
  // Size in px; `scale` multiplies the pixels of a PNG. kMeasure draws nowhere and only gives
  // sizes. A PNG that is never finished needs no path. Error{kIoError}: this machine has no font.
  CairoCanvas(CairoFormat format, const std::string& path, float width_px, float height_px,
              float scale = 1);
  ~CairoCanvas() override;

  // Sets what the file says about itself: title, subject (PDF), a comment or text chunk elsewhere.
  // `created` (ISO 8601) is a PDF's date, "" = now: the same content at two times gives two files.
  void set_metadata(std::vector<std::pair<std::string, std::string>> entries,
                    const std::string& created = "");
  struct Pixels {
    int width = 0, height = 0;
    std::vector<std::uint32_t> rgb;  // 0xRRGGBB, row by row
  };
  // The pixels drawn on a PNG so far; its background must be opaque.
  Pixels pixels() const;
  // Writes the file. Error{kIoError}: path and reason. Nothing may be drawn afterwards.
  void finish();

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
  // Distance from the top of a text down to the line on which its letters stand.
  float baseline(std::string_view utf8, const TextStyle& style);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace triescope::viz
