// The tables of `triescope bench --only spec`, and its plots, from the same cells.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/spec/spec_figures.h"
#include "viz/panels/panel.h"

namespace triescope::app {

// Name and rows of each: "spec" (a row a method and task), "spec_accepted" (steps by number of accepted
// drafts), "spec_acceptance" (by depth, rank and source), "spec_sweeps". Figures that are not known are null.
using SpecTables = std::vector<std::pair<std::string, nlohmann::ordered_json>>;
SpecTables spec_tables(const std::vector<SpecCell>& cells);

// The same for the eye: methods by tasks, tokens a forward and speed; then a row a method over all tasks.
SpecTables spec_summary(const std::vector<SpecCell>& cells);

// Speed and tokens a forward by task and method, the histograms of accepted drafts, a grid for each sweep.
std::vector<std::unique_ptr<viz::Panel>> spec_plots(const std::vector<SpecCell>& cells);

}  // namespace triescope::app
