// Numbers that were typed into a field. They are read to the end: a text that is not a number, or
// has something behind it, is refused rather than read in part. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/method/parameter.h"

namespace triescope::app {

// Reads a number of the parameter's kind, or the word for 0 ("auto"). A number outside the range is
// still a number: it stays in the field, and why_refused() says what a run allows.
// Error{kInvalidArgument}: "expected an integer from 1 to 64; found "12x"".
nlohmann::json read_typed(const Parameter& parameter, const std::string& text);
// Reads 0 to 2^64 − 1. Error{kInvalidArgument}.
std::uint64_t read_seed(const std::string& text);

// The value as a field shows it: "0.7", "3", "auto"; a text that is not a number (as --set may give
// it) is unchanged.
std::string typed_text(const Parameter& parameter, const nlohmann::json& value);
// `value` plus `steps` × `size`, without the digits that binary fractions leave (0.15, not
// 0.15000000000000002). A `value` that is not a number counts as 0.
nlohmann::json stepped(const Parameter& parameter, const nlohmann::json& value, double by);

}  // namespace triescope::app
