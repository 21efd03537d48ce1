// Plots of the benchmarks as files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "viz/panels/panel.h"

namespace triescope::app {

// Writes DIR/NAME.svg, .pdf and .csv of each, and says which on stderr unless `quiet`. `model` and
// `prompts` stand in the captions. Makes the folder where it is missing. Errors: kIoError.
void write_bench_plots(const std::vector<std::unique_ptr<viz::Panel>>& plots,
                       const std::string& folder, const std::string& model,
                       const std::string& prompts, bool quiet);

}  // namespace triescope::app
