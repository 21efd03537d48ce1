// A bar chart for a paper or a slide: groups of bars, a bar for each series, with means and their
// 95 % intervals. It draws what it is given, whatever run the scene has.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viz/panels/panel.h"

namespace triescope::viz {

struct BarValue {
  double mean = 0;
  double half = std::numeric_limits<double>::quiet_NaN();  // of the interval; NaN = none
  std::int64_t n = 0;                                      // how many it is the mean of
};

struct BarChart {
  std::string title;  // what the bars are
  std::vector<std::string> groups, series;
  std::vector<std::vector<std::optional<BarValue>>> values;  // [groups][series]; none = no bar
};

std::unique_ptr<Panel> make_bar_picture(BarChart chart);

}  // namespace triescope::viz
