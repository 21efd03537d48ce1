// Several runs of the table beside each other: a line a figure, a column a run, with the differences
// to the first run, and where each text parts from the first one's. Pure, but for part_texts().
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/study/study_table.h"
#include "viz/query/text_parting.h"

namespace triescope::app {

// For every run but the first; nullopt = it has no capture, or one that cannot be read.
using TextPartings = std::vector<std::optional<viz::TextParting>>;

struct BesideFigure {
  std::string column;
  std::vector<nlohmann::json> values;  // by run; null = the run has none
  std::vector<std::optional<double>>
      differences;  // to the first run; nullopt: not a figure, or a run has none
};
struct RunsBeside {
  std::vector<std::string> names;  // by run, no two alike: "1 greedy", "2 lookup"
  std::vector<BesideFigure> figures;
};

// `rows`: folded ones, two or more. `columns`: those to show, in order; a column that no run has is
// left out.
RunsBeside runs_beside(const std::vector<StudyRow>& rows, const std::vector<std::string>& columns);

// Where the texts part from the first one's; "" as a path = no capture. Reads the captures; ends early,
// with fewer, when asked to stop.
TextPartings part_texts(const std::vector<std::string>& paths, std::stop_token stop);
// "same text", "parts after 12 tokens, in step 4 (first run: step 9)", "another prompt".
std::string parting_words(const std::optional<viz::TextParting>& parting);

// As a table for files: the figure, each run, its difference to the first. `partings` may be empty.
StudyTable beside_table(const RunsBeside& beside, const TextPartings& partings);

}  // namespace triescope::app
