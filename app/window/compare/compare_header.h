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
// In the order in which they stand; of both runs as many.
std::vector<HeaderFigure> header_figures(const viz::CompareFigures& own,
                                         const viz::CompareFigures& other);

struct FigurePlace {
  int line = 0;
  float x = 0;
};
// Where figures of these widths stand in so many lines of `room` px. nullopt = left out: as many as have to
// be, those of the highest rank first.
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
