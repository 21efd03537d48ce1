// A canvas that writes down its calls, with a fixed-width font, so that pictures can be checked
// without pixels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/text/token_text.h"

namespace triescope::test {

class RecordingCanvas final : public viz::Canvas {
 public:
  struct Text {
    viz::Rect box;      // as measured
    viz::Rect visible;  // the part within the clip
    std::string text;
    float size = 0;
  };
  std::vector<std::string> calls;  // every call with its arguments
  std::vector<Text> texts;
  std::vector<std::string> terms;     // the terms that the glossary explains
  std::vector<viz::Rect> term_areas;  // where, term by term
  viz::Rect ink{1e9f, 1e9f, 0, 0};    // of everything drawn, after clipping
  std::size_t shapes = 0;

  // `digits` is the number of decimals in `calls`.
  explicit RecordingCanvas(bool log = true, int digits = 3) : log_(log), digits_(digits) {}

  void term(viz::Rect area, std::string_view name) override {
    terms.emplace_back(name);
    term_areas.push_back(area);
  }
  void fill_rect(viz::Rect r, viz::Color c, float radius) override {
    note("fill_rect", {r.x, r.y, r.w, r.h, radius}, c);
    mark(r);
  }
  void stroke_rect(viz::Rect r, viz::Color c, float width, viz::LineStyle style,
                   float radius) override {
    note("stroke_rect", {r.x, r.y, r.w, r.h, width, static_cast<float>(style), radius}, c);
    mark(r);
  }
  void line(viz::Point a, viz::Point b, viz::Color c, float width, viz::LineStyle style) override {
    note("line", {a.x, a.y, b.x, b.y, width, static_cast<float>(style)}, c);
    mark(around(a, b));
  }
  void polyline(std::span<const viz::Point> points, viz::Color c, float width,
                viz::LineStyle style) override {
    std::vector<float> numbers = {width, static_cast<float>(style)};
    for (const viz::Point p : points) {
      numbers.push_back(p.x);
      numbers.push_back(p.y);
    }
    note("polyline", numbers, c);
    for (std::size_t i = 1; i < points.size(); ++i) mark(around(points[i - 1], points[i]));
  }
  void fill_polygon(std::span<const viz::Point> points, viz::Color c) override {
    std::vector<float> numbers;
    for (const viz::Point p : points) {
      numbers.push_back(p.x);
      numbers.push_back(p.y);
    }
    note("fill_polygon", numbers, c);
    for (std::size_t i = 1; i < points.size(); ++i) mark(around(points[i - 1], points[i]));
  }
  void bezier(viz::Point p0, viz::Point c0, viz::Point c1, viz::Point p1, viz::Color c, float width,
              viz::LineStyle style) override {
    note("bezier",
         {p0.x, p0.y, c0.x, c0.y, c1.x, c1.y, p1.x, p1.y, width, static_cast<float>(style)}, c);
    mark(around(p0, p1));
  }
  void fill_circle(viz::Point p, float radius, viz::Color c) override {
    note("fill_circle", {p.x, p.y, radius}, c);
    mark({p.x - radius, p.y - radius, 2 * radius, 2 * radius});
  }
  void stroke_circle(viz::Point p, float radius, viz::Color c, float width) override {
    note("stroke_circle", {p.x, p.y, radius, width}, c);
    mark({p.x - radius, p.y - radius, 2 * radius, 2 * radius});
  }
  void text(viz::Point p, std::string_view utf8, const viz::TextStyle& style) override {
    note("text " + std::string(utf8), {p.x, p.y, style.size_px, static_cast<float>(style.face)},
         style.color);
    const viz::Point size = measure(utf8, style);
    const viz::Rect box{p.x, p.y, size.x, size.y};
    mark(box);
    texts.push_back({box, clipped(box), std::string(utf8), style.size_px});
  }
  viz::Point measure(std::string_view utf8, const viz::TextStyle& style) override {
    std::size_t characters = 0;
    for (std::size_t i = 0; i < utf8.size();
         i += std::max<std::size_t>(1, viz::utf8_length(utf8, i)))
      ++characters;
    // The sizes are close to those of the program's fonts.
    const float width = style.face == viz::FontFace::kMono ? 0.6f : 0.55f;
    return {static_cast<float>(characters) * style.size_px * width, style.size_px * 1.17f};
  }
  void push_clip(viz::Rect r) override {
    note("push_clip", {r.x, r.y, r.w, r.h}, {});
    clips_.push_back(clipped(r));
  }
  void pop_clip() override {
    note("pop_clip", {}, {});
    clips_.pop_back();
  }
  std::size_t open_clips() const { return clips_.size(); }

 private:
  static viz::Rect around(viz::Point a, viz::Point b) {
    return {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x), std::abs(a.y - b.y)};
  }
  viz::Rect clipped(viz::Rect r) const {
    if (clips_.empty()) return r;
    const viz::Rect c = clips_.back();
    const float x = std::max(r.x, c.x), y = std::max(r.y, c.y);
    return {x, y, std::max(0.0f, std::min(r.right(), c.right()) - x),
            std::max(0.0f, std::min(r.bottom(), c.bottom()) - y)};
  }
  void mark(viz::Rect drawn) {
    ++shapes;
    if (!clips_.empty()) {
      const viz::Rect c = clips_.back();
      if (drawn.x >= c.right() || drawn.right() <= c.x || drawn.y >= c.bottom() ||
          drawn.bottom() <= c.y)
        return;
    }
    const viz::Rect r = clipped(drawn);
    const float right = std::max(ink.x + ink.w, r.right()),
                bottom = std::max(ink.y + ink.h, r.bottom());
    const bool first = ink.x > 1e8f;
    ink.x = std::min(ink.x, r.x);
    ink.y = std::min(ink.y, r.y);
    ink.w = (first ? r.right() : right) - ink.x;
    ink.h = (first ? r.bottom() : bottom) - ink.y;
  }
  void note(const std::string& name, const std::vector<float>& numbers, viz::Color c) {
    if (!log_) return;
    std::string line = name;
    char text[32];
    for (const float number : numbers) {
      std::snprintf(text, sizeof text, " %.*f", digits_, static_cast<double>(number));
      line += text;
    }
    std::snprintf(text, sizeof text, " %02x%02x%02x%02x", c.r, c.g, c.b, c.a);
    calls.push_back(line + text);
  }

  bool log_;
  int digits_;
  std::vector<viz::Rect> clips_;
};

}  // namespace triescope::test
