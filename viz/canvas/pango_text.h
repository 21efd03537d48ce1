// PangoText: text laid out by Pango, which finds a font for every character and knows how scripts
// are shaped and ordered. Cairo's targets use it, and so does Dear ImGui's target for texts that
// Dear ImGui cannot lay out: a word of Arabic looks the same in the window and in a paper. One
// thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "viz/canvas/canvas.h"

struct _cairo;  // Cairo's cairo_t

namespace triescope::viz {

class PangoText {
 public:
  // `target` is the surface to draw on; nullptr: pictures only.
  explicit PangoText(_cairo* target = nullptr);
  ~PangoText();
  PangoText(const PangoText&) = delete;
  PangoText& operator=(const PangoText&) = delete;

  // UTF-8, one line; `em_px` is the size of the letters' em square.
  Point measure(std::string_view utf8, FontFace face, double em_px);
  // Distance from the top of what measure() measures down to the line on which the letters stand.
  float baseline(std::string_view utf8, FontFace face, double em_px);
  // Draws on the constructor's target in its source colour, top left at p. REQUIRES: there is a
  // target.
  void show(Point p, std::string_view utf8, FontFace face, double em_px);

  struct Picture {
    int width = 0, height = 0;  // px; 0 = nothing is visible (spaces)
    float left = 0, top = 0;  // of its corner, from the point on the baseline where the text begins
    float advance = 0;        // px to where the following text begins
    bool colored = false;     // false: white, to be tinted
    bool complete = true;     // false: some character is in no font and was drawn as its code
    std::vector<std::uint8_t> rgba;  // straight alpha
  };
  Picture picture(std::string_view utf8, FontFace face, double em_px);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace triescope::viz
