#include "core/capture/schema_text.h"

#include <algorithm>
#include <cctype>

#include "core/base/words.h"
#include "core/capture/column_text.h"
#include "core/capture/reasons.h"
#include "core/capture/row_types.h"
#include "core/capture/schema.h"

namespace triescope::capture {
namespace {

std::string joined(Names names, const char* before, const char* between) {
  std::string list;
  for (const char* const name : names)
    list += (list.empty() ? "" : between) + (before + std::string(name) + before);
  return list;
}

template <class Value, class ColumnOfRow>
std::string values_text(const ColumnOfRow& column) {
  switch (column.rule) {
    case Rule::kRange:
      return std::to_string(column.low) + " to " + std::to_string(column.high);
    case Rule::kCode:
      return joined(column.names(), "`", ", ");
    case Rule::kJson:
      return "JSON, at most 64 deep";
    case Rule::kBytes:
      return "bytes or text";
    case Rule::kTokens:
      return "JSON: `[1, 2, 3]`";
    case Rule::kNumbers:
      return "JSON: `[0.5, 0.25]`";
    case Rule::kRuns:
      return "ascending: `0-15,18`";
    case Rule::kTick:
      return "a tick";
    case Rule::kLaterTick:
      return "a tick, not before the row above's";
    case Rule::kNewTick:
      return "a tick, after the row above's";
    case Rule::kLaterStep:
      return "a step, not before the row above's";
    case Rule::kNewStep:
      return "a step, after the row above's";
    case Rule::kForward:
      return "from 0, not before the row above's of the step";
    case Rule::kNaive:
      return "from 0";
    case Rule::kNextRow:
      return "0, 1, 2, … in the order of the rows";
    case Rule::kParent:
      return "a node above in the table; -1 for node 0";
    case Rule::kDepth:
      return "the parent's + 1; 0 for node 0";
    case Rule::kNode:
    case Rule::kNodeIfTree:
      return "a node";
    case Rule::kNodeOrNone:
      return "a node, or -1";
    case Rule::kOccupant:
      return "a node, or prompt token i as -2 - i";
    case Rule::kDrafter:
      return "a drafter, or -1";
    case Rule::kAny:
    case Rule::kUnknown:
      break;
  }
  if (std::is_same_v<Value, std::string>) return "text";
  if (std::is_same_v<Value, bool>) return "0, 1";
  return std::is_floating_point_v<Value> ? "number" : "integer";
}

// The meaning of a missing column, or of NULL.
template <class ColumnOfRow, class Value>
std::string missing_text(const ColumnOfRow& column, const Value& value) {
  if (column.is_needed) return "**needed**";
  switch (column.rule) {
    case Rule::kUnknown:
      return "not known";
    case Rule::kNextRow:
    case Rule::kDepth:
      return "that";
    case Rule::kNaive:
      return "`position`";
    case Rule::kForward:
      return "0";
    case Rule::kNodeIfTree:
    case Rule::kNodeOrNone:
    case Rule::kDrafter:
      return "-1";
    default:
      break;
  }
  const std::string text = default_text(column, value);
  return text.empty() ? "not known" : text == "''" ? "empty" : "`" + text + "`";
}

template <class Row>
std::string columns_markdown() {
  std::string text;
  const Row row;
  for_each_column<Row>([&](const auto& column) {
    using Value = std::remove_cvref_t<decltype(row.*column.member)>;
    text += std::string("| `") + column.name + "` | " + values_text<Value>(column) + " | " +
            missing_text(column, row.*column.member) + " | " + column.meaning + " |\n";
  });
  return text;
}

constexpr const char* kHead = "| column | values | without it | meaning |\n|---|---|---|---|\n";

template <class Row>
std::string section_head() {
  std::string text =
      std::string("### `") + RowType<Row>::kTable + "`\n\nA row is " + RowType<Row>::kMeaning + ".";
  if constexpr (requires { RowType<Row>::kLevel; })
    text += std::string(" `triescope` records it from `--capture-level ") +
            to_string(RowType<Row>::kLevel) + "` on.";
  return text + "\n\n" + kHead;
}

// The CHECK (...) of one column; "" = none.
template <class ColumnOfRow>
std::string check_text(const ColumnOfRow& column) {
  const std::string name = column.name;
  if (column.rule == Rule::kCode)
    return " CHECK (" + name + " IN (" + joined(column.names(), "'", ", ") + "))";
  if (column.rule == Rule::kRange)
    return " CHECK (" + name + " BETWEEN " + std::to_string(column.low) + " AND " +
           std::to_string(column.high) + ")";
  return "";
}

template <class Row>
std::string columns_sql() {
  std::string text;
  const Row row;
  for_each_column<Row>([&](const auto& column) {
    using Value = std::remove_cvref_t<decltype(row.*column.member)>;
    text += std::string(",\n  ") + column.name + " " + sql_type<Value>(column.rule);
    if (column.is_needed) text += " NOT NULL";
    if (const std::string value = default_text(column, row.*column.member); !value.empty())
      text += " DEFAULT " + value;
    text += check_text(column);
  });
  return text;
}

template <class Row>
std::string table_sql(const std::string& more = "") {
  return std::string("CREATE TABLE ") + RowType<Row>::kTable + " (\n  id INTEGER PRIMARY KEY" +
         columns_sql<Row>() + more + ");\n";
}

// The table of reasons: which rule gives each, and which columns it fills.
std::string reasons_markdown() {
  std::string text =
      "\n### Reasons of verdicts\n\n| value | column | what it is |\n|---|---|---|\n";
  for (const ReasonValue& value : reason_values())
    text += "| " + std::string(value.name) + " | `" + std::string(value.column) + "` | " +
            std::string(value.meaning) + " |\n";
  text += "\n| reason | rule of verification | its values |\n|---|---|---|\n";
  for (int i = 1; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    std::string values;
    for (const std::string& name : words(values_of(reason)))
      values += (values.empty() ? "" : ", ") + name;
    const ReasonRule rule = rule_of(reason);
    text += std::string("| `") + to_string(reason) + "` | " +
            (rule == ReasonRule::kNone ? "" : to_string(rule)) + " | " + values + " |\n";
  }
  return text;
}

}  // namespace

std::string schema_markdown() {
  std::string text =
      section_head<RunInfo>() + columns_markdown<RunInfo>() + columns_markdown<RunState>();
  const auto add = [&]<class Row>() {
    text += "\n" + section_head<Row>() + columns_markdown<Row>();
  };
  for_each_table([&](const auto member) { add.template operator()<RowOf<decltype(member)>>(); });
  add.template operator()<Bookmark>();
  return text + reasons_markdown();
}

std::string schema_sql() {
  std::string text = "PRAGMA application_id = " + std::to_string(kApplicationId) +
                     ";\nPRAGMA user_version = " + std::to_string(kFormat) + ";\n";
  text += table_sql<RunInfo>(columns_sql<RunState>());
  for_each_table([&](const auto member) { text += table_sql<RowOf<decltype(member)>>(); });
  text += table_sql<Bookmark>();
  for (const char* const statement : view_statements()) text += std::string(statement) + ";\n";
  return text;
}

}  // namespace triescope::capture
