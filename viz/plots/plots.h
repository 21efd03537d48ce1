// Plots: pictures of figures from many runs, as papers have them. Each is a Panel, so that it exports
// like one, and draws plain numbers: it needs no capture. NaN stands for a figure that is not there. Bars
// are a BarChart (viz/panels/bar_picture.h).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "viz/panels/panel.h"

namespace triescope::viz {

// A small histogram for each row of counts, all on the same axes: the share that each value from 0 has.
struct HistogramPlot {
  std::string name, title, unit;  // `unit` of the values: "drafts accepted in a step"
  struct Part {
    std::string name;
    std::vector<std::int64_t> counts;  // [k] = how often k
  };
  std::vector<Part> parts;
};
std::unique_ptr<Panel> make_histogram_plot(HistogramPlot plot);

// A figure over two settings: a grid of cells for each figure, the larger the darker.
struct GridPlot {
  std::string name, title, x_name, y_name;  // "" as y_name: one row
  std::vector<std::string> xs, ys;
  struct Figure {
    std::string name;
    std::vector<std::vector<double>> values;  // [y][x]
  };
  std::vector<Figure> figures;
};
std::unique_ptr<Panel> make_grid_plot(GridPlot plot);

// Curves over steps.
struct CurvePlot {
  std::string name, title, x_name, y_name;
  struct Curve {
    std::string name;
    std::vector<double> values;  // of x = 0, 1, 2, …
    LineStyle line = LineStyle::kSolid;
    bool is_reference = false;  // something to compare with: drawn in grey
  };
  std::vector<Curve> curves;
};
std::unique_ptr<Panel> make_curve_plot(CurvePlot plot);

}  // namespace triescope::viz
