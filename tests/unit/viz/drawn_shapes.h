// What a RecordingCanvas was given, as shapes with colours: for tests that read a picture back.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/unit/viz/recording_canvas.h"

namespace triescope::test {

struct DrawnRect {
  viz::Rect box;
  viz::Color color;
};

// The numbers of a call, in order; its last word is a colour.
inline std::vector<float> numbers_of(const std::string& call) {
  std::vector<float> numbers;
  const std::size_t last = call.rfind(' ');
  for (std::size_t at = call.find(' '); at < last; at = call.find(' ', at + 1)) {
    char* end = nullptr;
    const float number = std::strtof(call.c_str() + at + 1, &end);
    if (end != call.c_str() + at + 1 && *end == ' ') numbers.push_back(number);
  }
  return numbers;
}

inline viz::Color color_of(const std::string& call) {
  unsigned r = 0, g = 0, b = 0, a = 0;
  std::sscanf(call.c_str() + call.rfind(' '), " %2x%2x%2x%2x", &r, &g, &b, &a);
  const auto byte = [](unsigned value) { return static_cast<std::uint8_t>(value); };
  return {byte(r), byte(g), byte(b), byte(a)};
}

inline bool same_hue(viz::Color a, viz::Color b) {  // whatever their alpha is
  return a.r == b.r && a.g == b.g && a.b == b.b;
}

// Filled rectangles in the order in which they were drawn.
inline std::vector<DrawnRect> rects_of(const RecordingCanvas& canvas) {
  std::vector<DrawnRect> rects;
  for (const std::string& call : canvas.calls) {
    if (!call.starts_with("fill_rect ")) continue;
    const auto n = numbers_of(call);
    rects.push_back({{n[0], n[1], n[2], n[3]}, color_of(call)});
  }
  return rects;
}

inline float middle_x(const RecordingCanvas::Text& text) { return text.box.x + text.box.w / 2; }
inline float middle_y(const RecordingCanvas::Text& text) { return text.box.y + text.box.h / 2; }

}  // namespace triescope::test
