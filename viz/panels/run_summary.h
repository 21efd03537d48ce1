// What is told of a run as a whole: what came of it, what it took and held, how it was made. The
// Summary panel shows all of it in sections, and the inspector a part.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "viz/draw/scene.h"
#include "viz/query/left_out_layers.h"
#include "viz/query/run_figures.h"

namespace triescope::viz {

struct SummaryLine {
  std::string label, value;
  std::string help = {};           // what it is, with its formula
  std::vector<LeftOut> gaps = {};  // drawn as a strip of squares, a layer each
  double share = std::numeric_limits<double>::quiet_NaN();  // drawn as a bar; NaN = none
};

// Whether lines stand in one list, or beside sections of time and memory, which have theirs.
enum class Told : std::uint8_t { kInOneList, kInSections };

// The figures of the steps in `range` before the cursor, in the words of `triescope decode`.
std::vector<SummaryLine> result_lines(const Scene& scene, const StepRange& range, Told told);
// Model, method, prompt, limits and what else made the run what it is.
std::vector<SummaryLine> made_lines(const Scene& scene, Told told);
std::vector<SummaryLine> setting_lines(const capture::RunInfo& run);

struct SummarySection {
  std::string title;
  std::vector<SummaryLine> lines;
  std::string panel = {};  // shows more of it; "" = none
};
// Sums up the steps in scene.range as far as the cursor has seen them. Sections without a line are left out.
std::vector<SummarySection> run_summary(const Scene& scene);
// Header line and a row a figure, named as in the table of runs: figure,value
std::string run_summary_csv(const Scene& scene);

}  // namespace triescope::viz
