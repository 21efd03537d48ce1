// A study's table in the formats in which it is printed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "app/session/text_tools.h"
#include "app/study/study_table.h"
#include "core/base/json_io.h"
#include "core/base/unicode.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

using nlohmann::json;

constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();

bool is_whole(double value) { return value == std::round(value) && std::abs(value) < 1e15; }

std::string cell_number(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::optional<double> number_in(const StudyRow& row, const std::string& column) {
  const auto found = row.find(column);
  if (found == row.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::size_t characters_of(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += utf8_step(text, at)) ++count;
  return count;
}

std::string latex_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\textbackslash{}";
        break;
      case '~':
        escaped += "\\textasciitilde{}";
        break;
      case '^':
        escaped += "\\textasciicircum{}";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        escaped += '\\';
        [[fallthrough]];
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string study_cell(const StudyRow& row, const std::string& column, const std::string& between) {
  const auto found = row.find(column);
  if (found == row.end() || found->is_null()) return "";
  if (found->is_boolean()) return found->get<bool>() ? "yes" : "no";
  if (!found->is_number()) return json_text(*found);
  const double value = found->get<double>();
  const bool alone = between.empty();
  const auto beside = [&](const char* ending) {
    return alone ? kNoFigure : number_in(row, column + ending).value_or(kNoFigure);
  };
  const double half = beside("_ci"), low = beside("_low"), high = beside("_high");
  const double size = std::abs(value);
  const int digits =
      std::ranges::all_of(std::array{value, half, low, high},
                          [](double one) { return std::isnan(one) || is_whole(one); })
          ? 0
      : size < 0.1 ? 3
      : size < 100 ? 2
                   : 1;
  std::string text = cell_number(value, digits);
  if (!std::isnan(half))
    text += between + cell_number(half, digits);
  else if (low < high)  // and both are known
    text += " [" + cell_number(low, digits) + ", " + cell_number(high, digits) + "]";
  return text;
}

bool is_study_number(const StudyTable& table, const std::string& column) {
  for (const StudyRow& row : table.rows)
    if (const auto found = row.find(column); found != row.end() && !found->is_null())
      return found->is_number();
  return false;
}

std::string study_text(const StudyTable& table) {
  std::vector<std::vector<std::string>> lines = {table.columns};
  for (const StudyRow& row : table.rows) {
    lines.emplace_back();
    for (const std::string& column : table.columns)
      lines.back().push_back(study_cell(row, column, " ± "));
  }
  std::string text;
  std::vector<std::size_t> widths(table.columns.size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], characters_of(line[i]));
  for (const auto& line : lines) {
    std::string one;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string pad(widths[i] - characters_of(line[i]), ' ');
      if (i) one += "  ";
      one += is_study_number(table, table.columns[i]) ? pad + line[i] : line[i] + pad;
    }
    one.erase(one.find_last_not_of(' ') + 1);
    text += one + "\n";
  }
  return text;
}

std::string study_csv(const StudyTable& table) {
  std::string text;
  for (const std::string& column : table.columns)
    text += (text.empty() ? "" : ",") + viz::csv_field(column);
  text += "\n";
  for (const StudyRow& row : table.rows) {
    std::string line;
    for (const std::string& column : table.columns) {
      const auto found = row.find(column);
      if (!line.empty() || &column != &table.columns.front()) line += ",";
      if (found != row.end() && !found->is_null()) line += viz::csv_field(json_text(*found));
    }
    text += line + "\n";
  }
  return text;
}

std::string study_jsonl(const StudyTable& table) {
  std::string text;
  for (const StudyRow& row : table.rows) {
    nlohmann::ordered_json line = nlohmann::ordered_json::object();
    for (const std::string& column : table.columns)
      line[column] = row.contains(column) ? row.at(column) : json(nullptr);
    text += dump_json(line) + "\n";
  }
  return text;
}

std::string study_latex(const StudyTable& table) {
  std::string text = "\\begin{tabular}{";
  for (const std::string& column : table.columns)
    text += is_study_number(table, column) ? "r" : "l";
  text += "}\n\\hline\n";
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    text += (i ? " & " : "") + latex_text(table.columns[i]);
  text += " \\\\\n\\hline\n";
  for (const StudyRow& row : table.rows) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i) text += " & ";
      const std::string& column = table.columns[i];
      const std::string cell = study_cell(row, column, " \\pm ");
      const bool is_math = row.contains(column) && row.at(column).is_number();
      text += is_math ? "$" + cell + "$" : latex_text(cell);
    }
    text += " \\\\\n";
  }
  return text + "\\hline\n\\end{tabular}\n";
}

}  // namespace triescope::app
