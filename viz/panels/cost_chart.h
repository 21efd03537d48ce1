// The chart of what drafts are worth: times as fast as plain decoding, by the drafts of a step that drafts. A
// line for each run or method by its measured acceptance, a point where it ran, the number of drafts
// that pays best, and behind them chains of free drafts with one acceptance each.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/layouts/axis.h"
#include "viz/query/cost_model.h"

namespace triescope::viz {

// A measured ratio to plain decoding, with its 95 % interval; a single run has none.
struct MeasuredSpeedup {
  double mean = 0, low = 0, high = 0;
};

struct CostSeries {
  std::string name;  // the method's
  CostModel model;
  std::optional<MeasuredSpeedup> measured = {};
  std::int64_t runs = 1;

  double drafts() const;  // rows beside the first in a step that drafted, as it ran
  double speedup() const { return measured ? measured->mean : model.speedup(); }
};

// The acceptances of the chains.
inline constexpr double kChainAcceptances[] = {0.3, 0.5, 0.7, 0.9};

// Drafts that the axis has room for: those of the best and of the points, and some more.
int drafts_shown(const std::vector<CostSeries>& series);

// Where things were drawn, for the mouse.
struct CostPlot {
  Rect area = {};
  AxisScale x = {}, y = {};
  std::vector<std::pair<Rect, std::size_t>> points = {};  // as it ran; by series
  std::vector<std::pair<Rect, std::size_t>> bests = {};
};
// Needs one series or more. All have the same forwards.
CostPlot draw_cost_chart(Canvas& canvas, Rect area, const std::vector<CostSeries>& series,
                         const Scene& scene);

// series,kind,drafts,tokens_per_step,step_cost,speedup,low,high: kind is curve, best, ran (by the
// costs) or measured; chains of free drafts are the series "alpha 0.5".
std::string cost_csv(const std::vector<CostSeries>& series);

}  // namespace triescope::viz
