// Tables of the benchmarks on standard output.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace triescope::app {

// `rows`: objects with the same keys, in the order of the columns. As text, columns are as wide as
// their widest cell; texts stand at the left of theirs.
void print_table(const std::string& title, const nlohmann::ordered_json& rows);
// With the table's name as first column; nothing for no rows.
void print_csv(const std::string& table, const nlohmann::ordered_json& rows);

}  // namespace triescope::app
