// The chart of an experiment in a lesson: of each token the chance it should be drawn with, and the
// share of the draws it had, as bars one below the other, with their figures. Pure but for the canvas,
// which measures.
#pragma once

#include <string>
#include <vector>

#include "app/lesson/experiment.h"
#include "viz/canvas/canvas.h"
#include "viz/draw/theme.h"

namespace triescope::app {

struct ExperimentChart {
  std::vector<std::string> names;  // of the tokens, as they are shown
  const ExperimentResult* result =
      nullptr;  // null while it is being drawn: the expected chances alone
  std::vector<double> expected;
  int draws = 0;
  viz::Theme theme;
  float em = 15;
};

float experiment_chart_height(const ExperimentChart& chart);
void draw_experiment_chart(viz::Canvas& canvas, viz::Rect area, const ExperimentChart& chart);

}  // namespace triescope::app
