// The chart of an experiment in a lesson. Each token has two bars, one below the other, with their
// figures: the chance with which it should be drawn, and its share of the draws. Pure except for
// the canvas, which measures.
#pragma once

#include <string>
#include <vector>

#include "app/lesson/experiment.h"
#include "viz/canvas/canvas.h"
#include "viz/draw/theme.h"

namespace triescope::app {

struct ExperimentChart {
  std::vector<std::string> names;  // the tokens, as they are shown
  const ExperimentResult* result =
      nullptr;  // null while the draws are under way: only the expected chances are drawn
  std::vector<double> expected;
  int draws = 0;
  viz::Theme theme;
  float em = 15;
};

float experiment_chart_height(const ExperimentChart& chart);
void draw_experiment_chart(viz::Canvas& canvas, viz::Rect area, const ExperimentChart& chart);

}  // namespace triescope::app
