#include "app/study/study_table.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "app/study/study_figures.h"
#include "app/study/study_variants.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/nearest_name.h"
#include "lessons/trace.h"

namespace triescope::app {
namespace {

using nlohmann::json;

// In every row of a run, but no column of a table: texts as long as they like, and lists.
constexpr const char* kNoColumns[] = {
    "key",          "prompt_text", "text", "settings", "accepted_by_depth", "accepted_histogram",
    "eos_token_id", "message"};
constexpr const char* kFigures[] = {"tokens_per_forward", "accepted_per_step",
                                    "tokens_per_second",  "speedup",
                                    "same_text",          "kv_peak_held_tokens"};

bool is_in(std::span<const char* const> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// All columns that the rows have: those of kFirst, then the rest by name.
std::vector<std::string> columns_of(const std::vector<StudyRow>& rows) {
  std::set<std::string> all;
  for (const StudyRow& row : rows)
    for (const auto& [name, value] : row.items())
      if (!is_in(kNoColumns, name)) all.insert(name);
  std::vector<std::string> columns;
  const auto take = [&](const std::string& name) {
    if (all.erase(name)) columns.push_back(name);
  };
  for (const char* name : study_identity()) take(name);
  for (const char* name : {"runs", "repeats", "method", "capture"}) take(name);
  for (const char* name : kFigures) take(name), take(std::string(name) + "_ci");
  columns.insert(columns.end(), all.begin(), all.end());
  return columns;
}

void check_column(const std::string& column, const std::vector<std::string>& columns,
                  const char* option) {
  if (std::find(columns.begin(), columns.end(), column) != columns.end()) return;
  std::string list;
  for (const std::string& one : columns) list += (list.empty() ? "" : ", ") + one;
  throw Error(ErrorCode::kInvalidArgument, std::string(option) + ": the table has no column '" +
                                               column + "'" + did_you_mean(column, columns) +
                                               "; it has " + list);
}

json cell_of(const StudyRow& row, const std::string& column) {
  const auto found = row.find(column);
  return found == row.end() ? json(nullptr) : *found;
}

// The value of an empty cell in a filter: no number (no comparison but != holds), an empty text or false,
// as the column's other cells are.
lessons::Value empty_value(const std::vector<StudyRow>& rows, const std::string& column) {
  for (const StudyRow& row : rows) {
    const json cell = cell_of(row, column);
    if (cell.is_string()) return std::string();
    if (cell.is_boolean()) return false;
    if (cell.is_number()) break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::vector<StudyRow> filtered(const std::vector<StudyRow>& rows, const std::string& filter,
                               const std::vector<std::string>& columns) {
  std::string list;
  for (const std::string& one : columns) list += (list.empty() ? "" : ", ") + one;
  const lessons::Expression expression =
      lessons::Expression::parse(filter, {.of_run = false,
                                          .variables = columns,
                                          .kind = "a column of the table",
                                          .listed = "it has " + list});
  std::vector<StudyRow> kept;
  for (const StudyRow& row : rows) {
    const auto value = [&](const std::string& column) -> lessons::Value {
      const json cell = cell_of(row, column);
      if (cell.is_number()) return cell.get<double>();
      if (cell.is_boolean()) return cell.get<bool>();
      if (cell.is_string()) return cell.get<std::string>();
      return cell.is_null() ? empty_value(rows, column) : lessons::Value(dump_json(cell));
    };
    if (lessons::evaluate_truth(expression, lessons::Variables(value))) kept.push_back(row);
  }
  return kept;
}

// Numbers before texts before empty cells, whichever way they are sorted.
void sort_rows(std::vector<StudyRow>& rows, std::string column) {
  const bool largest_first = column.starts_with('-');
  if (largest_first) column.erase(0, 1);
  const auto kind = [](const json& cell) { return cell.is_null() ? 2 : cell.is_string() ? 1 : 0; };
  std::stable_sort(rows.begin(), rows.end(), [&](const StudyRow& a, const StudyRow& b) {
    const json x = cell_of(a, column), y = cell_of(b, column);
    if (kind(x) != kind(y)) return kind(x) < kind(y);
    return largest_first ? y < x : x < y;
  });
}

// The columns by which rows differ.
std::vector<std::string> telling_columns(const std::vector<StudyRow>& rows) {
  std::vector<std::string> columns = {"name"};
  const auto differ = [&](const std::string& name) {
    return std::any_of(rows.begin(), rows.end(), [&](const StudyRow& row) {
      return cell_of(row, name) != cell_of(rows.front(), name);
    });
  };
  std::set<std::string> settings;
  for (const auto& [name, swept] : swept_settings(rows))
    settings.insert(swept.begin(), swept.end());
  for (const char* name : study_identity())
    if (std::string_view(name) != "name" && std::string_view(name) != "draft" && differ(name))
      columns.emplace_back(name);
  columns.insert(columns.end(), settings.begin(), settings.end());
  if (differ("repeats") || (!rows.empty() && cell_of(rows.front(), "repeats") > 1))
    columns.emplace_back("repeats");
  return columns;
}

}  // namespace

StudySelection::StudySelection(const std::vector<StudyRow>& runs, const StudyFilter& filter)
    : StudySelection(folded_rows(runs, filter.baseline), filter.where) {
  if (rows.empty() && !filter.where.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "--filter: expected a condition that holds for some run; found none for '" +
                    filter.where + "'");
}

StudySelection::StudySelection(std::vector<StudyRow> folded, const std::string& where)
    : rows(std::move(folded)) {
  if (!where.empty()) rows = filtered(rows, where, columns_of(rows));
  for (const StudyRow& row : rows) keys_.insert(repeat_key(row));
}

bool StudySelection::has(const StudyRow& run) const { return keys_.contains(repeat_key(run)); }

StudyTable study_table(const std::vector<StudyRow>& runs, const std::string& baseline,
                       const StudyTableOptions& options, bool whole) {
  return table_of_folded(folded_rows(runs, baseline), options, whole);
}

StudyTable table_of_folded(std::vector<StudyRow> rows, const StudyTableOptions& options,
                           bool whole) {
  StudyTable table;
  table.rows = std::move(rows);
  const std::vector<std::string> known = columns_of(table.rows);
  for (const std::string& column : options.group_by) check_column(column, known, "--group-by");
  if (!options.filter.empty()) table.rows = filtered(table.rows, options.filter, known);
  if (!options.captures.empty())
    std::erase_if(table.rows, [&](const StudyRow& row) {
      const json capture = cell_of(row, "capture");
      return !capture.is_string() || !options.captures.contains(capture.get<std::string>());
    });
  std::vector<std::string> usual =
      options.group_by.empty() ? telling_columns(table.rows) : options.group_by;
  if (!options.group_by.empty()) {
    table.rows = grouped_rows(table.rows, options.group_by);
    usual.emplace_back("runs");
  }
  std::vector<std::string> columns = columns_of(table.rows);
  if (columns.empty()) columns = known;  // no row is left
  if (!options.sort.empty()) {
    check_column(options.sort.substr(options.sort.starts_with('-')), columns, "--sort");
    sort_rows(table.rows, options.sort);
  }
  for (const std::string& column : options.columns) check_column(column, columns, "--columns");
  const auto has = [&](const std::string& column) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [&](const StudyRow& row) { return !cell_of(row, column).is_null(); });
  };
  for (const char* name : kFigures)
    if (has(name)) usual.emplace_back(name);
  table.columns = !options.columns.empty() ? options.columns : whole ? columns : usual;
  return table;
}

}  // namespace triescope::app
