// Value: the value of an expression in a lesson. Plain data, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace triescope::lessons {

// A text of the run: the one that it returned as its best, or the live path of a rank (1 = best).
struct PathRef {
  std::int32_t rank = 0;  // 0 = best
  bool operator==(const PathRef&) const = default;
};
// A figure that exists for every step, by its index in series_list() (trace.h).
struct SeriesRef {
  std::size_t index = 0;
  bool operator==(const SeriesRef&) const = default;
};

// Texts are bytes as the vocabulary spells them: " the" begins with its space.
using Value = std::variant<double, std::string, bool, PathRef, SeriesRef>;

// "a number", "a text", "true or false", "a path", "a series": for messages.
const char* kind_of(const Value& value);
// As people read it: 12, 0.413, ' the', true. Whole numbers are written in full, others with three
// significant digits.
std::string value_text(const Value& value);
// Whether two values are the same number (to a billionth of it), text or truth value.
bool same_value(const Value& a, const Value& b);

}  // namespace triescope::lessons
