// The head above two runs: which figures it shows and where they stand, apart from their drawing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viz/query/compare_figures.h"

namespace triescope::app {

struct HeaderFigure {
  std::string text, help;
  std::string widest;  // as wide as the text may become: nothing moves while figures change
  int rank = 0;        // 0 = the last to be left out
};
// In drawing order, the same number for both runs.
std::vector<HeaderFigure> header_figures(const viz::CompareFigures& own,
                                         const viz::CompareFigures& other);

struct FigurePlace {
  int line = 0;
  float x = 0;
};
// The place of each figure in `lines` lines of `room` px, by its width. nullopt = left out: no more
// than needed are, the highest rank first.
std::vector<std::optional<FigurePlace>> place_figures(std::span<const float> widths,
                                                      std::span<const HeaderFigure> figures,
                                                      float room, int lines);

// Where two texts part first, in words: longest wording first, each with what matters most.
struct FirstDifference {
  std::size_t count = 0;              // of all places where they part; 0 = nowhere
  std::int32_t token = 0;             // of the text
  std::string left = {}, right = {};  // the tokens that stand there
  std::int32_t left_step = 0, right_step = 0;
  bool prompts_differ = false;
};
std::vector<std::string> difference_wordings(const FirstDifference& first);

}  // namespace triescope::app
