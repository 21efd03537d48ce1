#include "core/method/parameter.h"

#include <utility>

namespace triescope {

Parameter integer(std::string name, std::string title, std::int64_t otherwise, std::int64_t minimum,
                  std::int64_t maximum, std::string help) {
  return {.name = std::move(name),
          .title = std::move(title),
          .kind = ParameterKind::kInteger,
          .default_value = otherwise,
          .minimum = static_cast<double>(minimum),
          .maximum = static_cast<double>(maximum),
          .choices = {},
          .help = std::move(help)};
}

Parameter number(std::string name, std::string title, double otherwise, double minimum,
                 double maximum, std::string help) {
  return {.name = std::move(name),
          .title = std::move(title),
          .kind = ParameterKind::kNumber,
          .default_value = otherwise,
          .minimum = minimum,
          .maximum = maximum,
          .choices = {},
          .help = std::move(help)};
}

Parameter boolean(std::string name, std::string title, bool otherwise, std::string help) {
  return {.name = std::move(name),
          .title = std::move(title),
          .kind = ParameterKind::kBoolean,
          .default_value = otherwise,
          .choices = {},
          .help = std::move(help)};
}

Parameter choice(std::string name, std::string title, std::string otherwise,
                 std::vector<std::string> choices, std::string help) {
  return {.name = std::move(name),
          .title = std::move(title),
          .kind = ParameterKind::kChoice,
          .default_value = std::move(otherwise),
          .choices = std::move(choices),
          .help = std::move(help)};
}

Parameter text(std::string name, std::string title, std::string otherwise, std::string help) {
  return {.name = std::move(name),
          .title = std::move(title),
          .kind = ParameterKind::kText,
          .default_value = std::move(otherwise),
          .choices = {},
          .help = std::move(help)};
}

Parameter integer_list(std::string name, std::string title, std::int64_t minimum,
                       std::int64_t maximum, std::string help) {
  return {.name = std::move(name),
          .title = std::move(title),
          .kind = ParameterKind::kIntegerList,
          .default_value = nlohmann::json::array(),
          .minimum = static_cast<double>(minimum),
          .maximum = static_cast<double>(maximum),
          .choices = {},
          .help = std::move(help)};
}

Parameter zero_is(std::string word, Parameter parameter) {
  parameter.zero_is = std::move(word);
  return parameter;
}

Parameter empty_is(std::string word, Parameter parameter) {
  parameter.empty_is = std::move(word);
  return parameter;
}

std::string word_of(const Parameter& parameter, const nlohmann::json& value) {
  if (value.is_number() && value == 0) return parameter.zero_is;
  const bool empty = value.is_string() ? value.get_ref<const std::string&>().empty()
                                       : value.is_array() && value.empty();
  return empty ? parameter.empty_is : "";
}

}  // namespace triescope
