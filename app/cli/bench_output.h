// The output of benchmarks: tables on standard output, plots as files.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "viz/panels/panel.h"

namespace triescope::app {

// `rows`: objects with the same keys, in the order of the columns. As text, columns are as wide as
// their widest cell; texts stand at the left of theirs.
void print_table(const std::string& title, const nlohmann::ordered_json& rows);
// With the table's name as first column; nothing for no rows.
void print_csv(const std::string& table, const nlohmann::ordered_json& rows);

// Writes DIR/NAME.svg, .pdf and .csv of each, and says which on stderr unless `quiet`. `model` and
// `prompts` stand in the captions. Makes the folder where it is missing. Errors: kIoError.
void write_bench_plots(const std::vector<std::unique_ptr<viz::Panel>>& plots,
                       const std::string& folder, const std::string& model,
                       const std::string& prompts, bool quiet);

}  // namespace triescope::app
