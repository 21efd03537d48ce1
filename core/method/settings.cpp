#include "core/method/settings.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/nearest_name.h"
#include "core/base/trimmed.h"
#include "core/method/method.h"
#include "core/method/parameters_of.h"

namespace triescope {
namespace {

using nlohmann::json;

constexpr std::string_view kSpaces = " \t\n";

template <class T>
std::optional<T> parse_number(const std::string& text) {
  T value{};
  const std::string_view s = trimmed(text, kSpaces);
  const char* begin = s.data() + (s.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size() || s.empty()) return std::nullopt;
  return value;
}

std::string number_text(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return std::to_string(static_cast<std::int64_t>(value));
  return dump_json(json(value));
}

// The parameter's range in words: "an integer from 1 to 64".
std::string allowed(const Parameter& parameter) {
  std::string text;
  switch (parameter.kind) {
    case ParameterKind::kInteger:
      text = "an integer";
      break;
    case ParameterKind::kNumber:
      text = "a number";
      break;
    case ParameterKind::kBoolean:
      return "true or false";
    case ParameterKind::kText:
      return "a text";
    case ParameterKind::kIntegerList:
      text = "comma-separated integers, each";
      break;
    case ParameterKind::kChoice:
      text = "one of";
      for (const auto& choice : parameter.choices)
        text += (&choice == &parameter.choices.front() ? " " : ", ") + choice;
      return text;
  }
  const bool low = std::isfinite(parameter.minimum), high = std::isfinite(parameter.maximum);
  if (low && high)
    text += " from " + number_text(parameter.minimum) + " to " + number_text(parameter.maximum);
  else if (low)
    text += " of at least " + number_text(parameter.minimum);
  else if (high)
    text += " of at most " + number_text(parameter.maximum);
  if (!parameter.zero_is.empty()) text += " (0 = " + parameter.zero_is + ")";
  return text;
}

// A value for messages; its text need not be UTF-8.
std::string shown(const json& value) { return dump_json(value).substr(0, 200); }

std::optional<double> number_of(const json& given) {
  if (given.is_number()) return given.get<double>();
  if (given.is_string()) return parse_number<double>(given.get<std::string>());
  return std::nullopt;
}

[[noreturn]] void refuse(const Parameter& parameter, const json& found) {
  const std::optional<double> value = number_of(found);
  const bool below = !parameter.below.empty() && value && *value < parameter.minimum;
  throw Error(ErrorCode::kInvalidArgument, parameter.name + ": expected " + allowed(parameter) +
                                               "; found " + shown(found) +
                                               (below ? " (" + parameter.below + ")" : ""));
}

bool in_range(const Parameter& parameter, double value) {
  return value >= parameter.minimum && value <= parameter.maximum;  // NaN gives false
}

bool is_word_for_zero(const Parameter& parameter, const json& given) {
  return !parameter.zero_is.empty() && given == parameter.zero_is;
}

json read_integer(const Parameter& parameter, const json& given) {
  std::optional<std::int64_t> value;
  if (is_word_for_zero(parameter, given)) {
    value = 0;
  } else if (given.is_number_integer()) {
    value = given.get<std::int64_t>();
  } else if (given.is_number_float()) {
    const double x = given.get<double>();  // 3.0, as a slider gives it
    if (x == std::floor(x) && std::abs(x) < 1e15) value = static_cast<std::int64_t>(x);
  } else if (given.is_string()) {
    value = parse_number<std::int64_t>(given.get<std::string>());
  }
  if (!value || !in_range(parameter, static_cast<double>(*value))) refuse(parameter, given);
  return *value;
}

json read_number(const Parameter& parameter, const json& given) {
  if (is_word_for_zero(parameter, given)) return 0.0;
  const std::optional<double> value = number_of(given);
  if (!value || !std::isfinite(*value) || !in_range(parameter, *value)) refuse(parameter, given);
  return *value;
}

json read_boolean(const Parameter& parameter, const json& given) {
  if (given.is_boolean()) return given;
  if (given.is_string()) {
    const std::string text(trimmed(given.get_ref<const std::string&>(), kSpaces));
    if (text == "true" || text == "True" || text == "1") return true;
    if (text == "false" || text == "False" || text == "0") return false;
  }
  refuse(parameter, given);
}

json read_choice(const Parameter& parameter, const json& given) {
  std::string text;
  if (given.is_string()) text = trimmed(given.get_ref<const std::string&>(), kSpaces);
  if (given.is_boolean()) text = given.get<bool>() ? "true" : "false";  // for early_stopping
  if (given.is_number_integer()) text = std::to_string(given.get<std::int64_t>());
  for (const auto& choice : parameter.choices)
    if (choice == text) return choice;
  refuse(parameter, given);
}

json read_integer_list(const Parameter& parameter, const json& given) {
  json list = json::array();
  const auto add = [&](std::optional<std::int64_t> value) {
    if (!value || !in_range(parameter, static_cast<double>(*value))) refuse(parameter, given);
    list.push_back(*value);
  };
  if (given.is_null()) return list;
  if (given.is_number_integer()) {
    add(given.get<std::int64_t>());
  } else if (given.is_array()) {
    for (const auto& entry : given)
      add(entry.is_number_integer() ? std::optional(entry.get<std::int64_t>()) : std::nullopt);
  } else if (given.is_string()) {
    std::string text(trimmed(given.get_ref<const std::string&>(), kSpaces));
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    for (std::size_t at = 0; at < text.size();) {
      const auto comma = std::min(text.find(',', at), text.size());
      add(parse_number<std::int64_t>(text.substr(at, comma - at)));
      at = comma + 1;
    }
  } else {
    refuse(parameter, given);
  }
  return list;
}

// The parameter "kv" with the policies that this method allows.
Parameter kv_parameter_of(const MethodInfo& method, Parameter parameter) {
  parameter.choices.clear();
  for (const KvPolicyKind kind : method.kv_policies)
    parameter.choices.emplace_back(to_string(kind));
  parameter.default_value = parameter.choices.front();
  return parameter;
}

}  // namespace

json read_setting(const Parameter& parameter, const json& given) {
  switch (parameter.kind) {
    case ParameterKind::kInteger:
      return read_integer(parameter, given);
    case ParameterKind::kNumber:
      return read_number(parameter, given);
    case ParameterKind::kBoolean:
      return read_boolean(parameter, given);
    case ParameterKind::kChoice:
      return read_choice(parameter, given);
    case ParameterKind::kIntegerList:
      return read_integer_list(parameter, given);
    case ParameterKind::kText:
      // Numbers typed where a text is wanted ("12 13") and lists stay: the reader of that text
      // decides.
      return given;
  }
  return given;
}

const nlohmann::json& Settings::value(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end())
    throw Error(ErrorCode::kInvalidArgument,
                "settings: expected the method to have a parameter \"" + std::string(name) +
                    "\"; found none of that name");
  return *found;
}

template <class T>
T Settings::read(std::string_view name) const {
  const nlohmann::json& found = value(name);
  try {
    return found.get<T>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string(name) + ": expected another type; found " + shown(found));
  }
}

int Settings::integer(std::string_view name) const { return read<int>(name); }
double Settings::number(std::string_view name) const { return read<double>(name); }
bool Settings::boolean(std::string_view name) const { return read<bool>(name); }
std::string Settings::text(std::string_view name) const { return read<std::string>(name); }
std::vector<std::int32_t> Settings::integers(std::string_view name) const {
  return read<std::vector<std::int32_t>>(name);
}

std::span<const Parameter> common_parameters() {
  static const std::vector<Parameter> list = {
      choice("kv", "KV Policy", "recycle", {"recycle", "compact", "keep", "batch"},
             "What happens to the KV slot of a dead node. recycle: the next node takes it, "
             "nothing is copied. compact: every gc_every steps the survivors are gathered. "
             "keep: it stays as garbage. batch: every beam has a whole cache of its own, "
             "reordered each step."),
      integer("gc_every", "Steps per Collection", 15, 1, 1000000,
              "With kv=compact, steps between two garbage collections (15 in the trie paper)."),
      empty_is(
          "the model's own",
          integer_list(
              "eos_token_id", "End Tokens", -1, 2147483647,
              "Tokens that end a sequence, comma-separated. Empty: the model's own. -1: none.")),
      integer("candidates", "Recorded Candidates", 16, 0, 1000,
              "How many of the best tokens of each row are recorded. Changes nothing in the text."),
  };
  return list;
}

std::vector<Parameter> parameters_of(const MethodInfo& method) {
  std::vector<Parameter> parameters = method.parameters;
  for (const Parameter& parameter : common_parameters())
    parameters.push_back(parameter.name == "kv" ? kv_parameter_of(method, parameter) : parameter);
  return parameters;
}

json validate_settings(const MethodInfo& method, const json& given) {
  if (!given.is_null() && !given.is_object())
    throw Error(ErrorCode::kInvalidArgument,
                "settings: expected name=value pairs (a JSON object); found " + shown(given));
  const std::vector<Parameter> parameters = parameters_of(method);
  json settings = json::object();
  for (const Parameter& parameter : parameters) {
    const auto found = given.is_object() ? given.find(parameter.name) : given.end();
    settings[parameter.name] = given.is_object() && found != given.end()
                                   ? read_setting(parameter, *found)
                                   : parameter.default_value;
  }
  if (given.is_object())
    for (const auto& [name, value] : given.items()) {
      if (settings.contains(name)) continue;
      std::vector<std::string> known;
      std::string list;
      for (const Parameter& parameter : parameters) {
        known.push_back(parameter.name);
        list += (list.empty() ? "" : ", ") + parameter.name;
      }
      throw Error(ErrorCode::kInvalidArgument, "settings: method " + method.name +
                                                   " has no parameter \"" + name + "\"; it has " +
                                                   list + did_you_mean(name, known));
    }
  return settings;
}

}  // namespace triescope
