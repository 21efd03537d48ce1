#include "app/session/typed_number.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "app/session/parameter_groups.h"
#include "app/session/text_tools.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/trimmed.h"
#include "core/method/settings.h"

namespace triescope::app {
namespace {

using nlohmann::json;

// The value as a number of the parameter's kind; null if it is none.
json number_of(const Parameter& parameter, const json& value) {
  try {
    return read_typed(parameter, json_text(value));
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

json read_typed(const Parameter& parameter, const std::string& text) {
  Parameter any = parameter;
  any.minimum = -std::numeric_limits<double>::infinity();
  any.maximum = std::numeric_limits<double>::infinity();
  try {
    return read_setting(any, std::string(trimmed(text, " \t\n")));
  } catch (const Error&) {
    throw Error(ErrorCode::kInvalidArgument, why_refused(parameter, text));
  }
}

std::uint64_t read_seed(const std::string& text) {
  const std::string_view digits = trimmed(text, " \t\n");
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    throw Error(ErrorCode::kInvalidArgument,
                "expected an integer from 0 to 18446744073709551615; found " +
                    dump_json(json(text.substr(0, 200))));
  return seed;
}

std::string typed_text(const Parameter& parameter, const json& value) {
  const json number = number_of(parameter, value);
  if (number.is_null()) return json_text(value);
  std::string text = word_of(parameter, number);
  if (!text.empty()) return text;
  text = dump_json(number);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

json stepped(const Parameter& parameter, const json& value, double by) {
  const json number = number_of(parameter, value);
  if (parameter.kind == ParameterKind::kInteger)
    return (number.is_null() ? 0 : number.get<std::int64_t>()) + static_cast<std::int64_t>(by);
  constexpr double kFinest = 1e9;
  return std::round(((number.is_null() ? 0 : number.get<double>()) + by) * kFinest) / kFinest;
}

}  // namespace triescope::app
