// A column in SQL: its type, and the default of a row that was inserted without it.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/capture/row_types.h"

namespace triescope::capture {

template <class Value>
constexpr const char* sql_type(Rule rule) {
  if (rule == Rule::kBytes) return "BLOB";
  if (rule == Rule::kTokens || rule == Rule::kNumbers || rule == Rule::kRuns ||
      rule == Rule::kCode || std::is_same_v<Value, std::string>)
    return "TEXT";
  return std::is_floating_point_v<Value> ? "REAL" : "INTEGER";
}

inline std::string shortest_text(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// The default of a row that was inserted without the column; "" = NULL.
template <class ColumnOfRow, class Value>
std::string default_text(const ColumnOfRow& column, const Value& value) {
  if (column.is_needed || column.rule == Rule::kUnknown || is_relation(column.rule)) return "";
  if constexpr (std::is_same_v<Value, std::string>) {
    return column.rule == Rule::kBytes ? "" : "''";
  } else if constexpr (std::is_floating_point_v<Value>) {
    return std::isnan(value) ? "" : shortest_text(static_cast<double>(value));
  } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
    if (column.rule == Rule::kCode)
      return "'" + std::string(column.names()[static_cast<std::size_t>(value)]) + "'";
    return std::to_string(static_cast<std::int64_t>(value));
  } else {
    return column.rule == Rule::kRuns ? "''" : "'[]'";
  }
}

}  // namespace triescope::capture
