// A line of text that has to fit: it is said in fewer words, or parts of it are left out whole. No word is cut.
// Apart from drawing: whoever asks measures.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace triescope::app {

using MeasureLine = std::function<float(const std::string&)>;  // px

struct LinePart {
  std::string text;
  int rank = 0;  // 0 = the last to be left out
};
// The parts side by side with `between` them. Where they are too wide those of the highest rank are left out first;
// the last one stays.
std::string parts_that_fit(std::span<const LinePart> parts, const std::string& between, float room,
                           const MeasureLine& measure);

// The first of the wordings, longest first, that fits; "" where none does.
std::string wording_that_fits(std::span<const std::string> wordings, float room,
                              const MeasureLine& measure);

// As many whole words from the beginning as fit, and "…" behind them; "" where not even the first one does.
std::string words_that_fit(const std::string& text, float room, const MeasureLine& measure);

}  // namespace triescope::app
