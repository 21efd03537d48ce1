#include "app/cli/bench_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

#include "app/session/text_tools.h"
#include "viz/text/number_text.h"

namespace triescope::app {

void print_table(const std::string& title, const nlohmann::ordered_json& rows) {
  std::cout << title << "\n";
  if (rows.empty()) return;
  std::vector<std::string> columns;
  for (const auto& [key, value] : rows[0].items()) columns.push_back(key);
  const auto cell = [](const nlohmann::ordered_json& value) -> std::string {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_null()) return "-";
    if (!value.is_number_float()) return value.dump();
    char text[32];
    const double number = value.get<double>();
    std::snprintf(text, sizeof text, number != 0 && std::abs(number) < 0.005 ? "%.1e" : "%.2f",
                  number);
    return text;
  };
  for (std::size_t row = 0; row <= rows.size(); ++row) {
    for (const std::string& column : columns) {
      std::size_t width = column.size();
      for (const nlohmann::ordered_json& entry : rows)
        width = std::max(width, cell(entry[column]).size());
      const std::string text = row == 0 ? column : cell(rows[row - 1][column]);
      const std::string space(width - text.size(), ' ');
      std::cout << "  " << (rows[0][column].is_string() ? text + space : space + text);
    }
    std::cout << "\n";
  }
  std::cout << "\n";
}

void print_csv(const std::string& table, const nlohmann::ordered_json& rows) {
  if (rows.empty()) return;
  std::cout << "table";
  for (const auto& [key, value] : rows[0].items()) std::cout << "," << key;
  std::cout << "\n";
  for (const nlohmann::ordered_json& row : rows) {
    std::cout << table;
    for (const auto& [key, value] : row.items())
      std::cout << "," << (value.is_null() ? "" : viz::csv_field(json_text(value)));
    std::cout << "\n";
  }
}

}  // namespace triescope::app
