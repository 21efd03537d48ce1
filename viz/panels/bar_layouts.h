// The two ways in which a bar chart stands, each drawn into the room below its title.
#pragma once

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/panels/bar_picture.h"

namespace triescope::viz {

// The farthest that a bar, a whisker, a ring or the reference reaches; 1 where nothing does.
double bars_reach(const BarChart& chart);
// The largest mean of a group; NaN if the chart marks none.
double best_of_group(const BarChart& chart, std::size_t group);

// Groups side by side on one scale, with a legend where there are several series.
void draw_upright_bars(Canvas& canvas, Rect area, const BarChart& chart, const Scene& scene);
Point upright_extent(Canvas& canvas, const BarChart& chart, const Scene& scene);

// A row for each series, a column for each group, all on one scale from 0.
void draw_lying_bars(Canvas& canvas, Rect area, const BarChart& chart, const Scene& scene);
Point lying_extent(Canvas& canvas, const BarChart& chart, const Scene& scene);

}  // namespace triescope::viz
