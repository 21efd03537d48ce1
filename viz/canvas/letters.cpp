#include "viz/canvas/letters.h"

#include <atomic>

#include "viz/canvas/pango_text.h"

namespace triescope::viz {

std::string why_no_letters() {
  static std::atomic<bool> there{false};  // fonts do not disappear while the program runs
  if (there) return "";
  constexpr const char* kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  PangoText text;
  bool complete = true;
  for (const FontFace face : {FontFace::kUi, FontFace::kUiBold, FontFace::kMono})
    complete = complete && text.picture(kLetters, face, 12).complete;
  if (complete) {
    there = true;
    return "";
  }
  return "no font with Latin letters: install one (fonts-dejavu-core; Fedora: dejavu-sans-fonts)";
}

}  // namespace triescope::viz
