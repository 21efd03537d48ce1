// What was typed into a number field, read to its end: a text that is no number, or has something behind
// it, is refused rather than read in part. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/method/parameter.h"

namespace triescope::app {

// A number of the parameter's kind, or the word for 0 ("auto"). One outside the range is a number still:
// it stays in the field, and why_refused() says what a run allows. Error{kInvalidArgument}: "expected an
// integer from 1 to 64; found "12x"".
nlohmann::json read_typed(const Parameter& parameter, const std::string& text);
// 0 to 2^64 − 1. Error{kInvalidArgument}.
std::uint64_t read_seed(const std::string& text);

// As a field shows it: "0.7", "3", "auto"; a text that is no number (as --set may give it) as it is.
std::string typed_text(const Parameter& parameter, const nlohmann::json& value);
// `value` and `steps` × `size` more, without the digits that binary fractions leave (0.15, not
// 0.15000000000000002). `value` that is no number counts as 0.
nlohmann::json stepped(const Parameter& parameter, const nlohmann::json& value, double by);

}  // namespace triescope::app
