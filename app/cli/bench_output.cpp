#include "app/cli/bench_output.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <vector>

#include "app/session/text_tools.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/session/session.h"
#include "viz/export/export_picture.h"
#include "viz/export/file_ending.h"
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
    if (!value.is_number_float()) return dump_json(value);
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

void write_bench_plots(const std::vector<std::unique_ptr<viz::Panel>>& plots,
                       const std::string& folder, const std::string& model,
                       const std::string& prompts, bool quiet) {
  namespace fs = std::filesystem;
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec)
    throw Error(ErrorCode::kIoError, folder + ": the folder of the plots cannot be made (" +
                                         ec.message() + "); name another with --plots");
  for (const std::unique_ptr<viz::Panel>& plot : plots) {
    const viz::Facts facts = {{"Title", plot->info().title},
                              {"Model", fs::path(model).filename().string()},
                              {"Prompts", prompts},
                              {"Software", "triescope " TRIESCOPE_VERSION}};
    for (const auto format :
         {viz::ExportFormat::kSvg, viz::ExportFormat::kPdf, viz::ExportFormat::kCsv}) {
      const std::string file = plot->info().name + "." + std::string(viz::name_of(format));
      viz::ExportOptions options;
      options.format = format;
      viz::export_picture(*plot, facts, "", (fs::path(folder) / file).string(), options);
    }
  }
  if (!quiet)
    std::fprintf(stderr, "%s in %s, as SVG, PDF and CSV\n", counted(plots.size(), "plot").c_str(),
                 folder.c_str());
}

}  // namespace triescope::app
