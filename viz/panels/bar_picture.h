// The bar chart of every figure of many runs: groups of bars, a bar for each series, with means and
// their intervals. Upright for a paper or a slide; lying, a row a series and a column a group, where
// there are many series with long names. It draws what it is given, whatever run the scene has.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viz/panels/panel.h"

namespace triescope::viz {

inline constexpr double kNoBarFigure = std::numeric_limits<double>::quiet_NaN();

struct BarValue {
  double mean = 0;
  double low = kNoBarFigure, high = kNoBarFigure;  // the ends of its interval; NaN = none
  std::int64_t n = 0;                              // how many it is the mean of; 0 = not said
  double ring = kNoBarFigure;  // a ring where this figure would reach; NaN = none
};

struct BarChart {
  std::string title;  // what the bars are
  std::vector<std::string> groups, series;
  std::vector<std::vector<std::optional<BarValue>>> values;  // [groups][series]; none = no bar
  std::string name = "bars";                                 // of files
  bool lies = false;
  bool marks_best = false;          // the largest of each group stands out
  double reference = kNoBarFigure;  // a dashed line through all bars; NaN = none
};

std::unique_ptr<Panel> make_bar_picture(BarChart chart);

}  // namespace triescope::viz
