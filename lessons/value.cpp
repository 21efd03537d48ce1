#include "lessons/value.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace triescope::lessons {

const char* kind_of(const Value& value) {
  static constexpr const char* kKinds[] = {"a number", "a text", "true or false", "a path",
                                           "a series"};
  return kKinds[value.index()];
}

std::string value_text(const Value& value) {
  if (const double* const number = std::get_if<double>(&value)) {
    char text[40];
    const bool whole = std::abs(*number) < 1e15 && *number == std::round(*number);
    std::snprintf(text, sizeof text, whole ? "%.0f" : "%.3g", *number == 0 ? 0.0 : *number);
    return text;
  }
  if (const std::string* const text = std::get_if<std::string>(&value)) return "'" + *text + "'";
  if (const bool* const truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  return kind_of(value);
}

bool same_value(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  const double* const x = std::get_if<double>(&a);
  if (!x) return a == b;
  const double y = std::get<double>(b);
  return std::abs(*x - y) <= 1e-9 * std::max({1.0, std::abs(*x), std::abs(y)});
}

}  // namespace triescope::lessons
