#include "core/method/parameter.h"

#include <utility>

namespace triescope {

Parameter integer(std::string name, std::int64_t otherwise, std::int64_t minimum,
                  std::int64_t maximum, std::string help) {
  return {.name = std::move(name),
          .kind = ParameterKind::kInteger,
          .default_value = otherwise,
          .minimum = static_cast<double>(minimum),
          .maximum = static_cast<double>(maximum),
          .choices = {},
          .help = std::move(help)};
}

Parameter number(std::string name, double otherwise, double minimum, double maximum,
                 std::string help) {
  return {.name = std::move(name),
          .kind = ParameterKind::kNumber,
          .default_value = otherwise,
          .minimum = minimum,
          .maximum = maximum,
          .choices = {},
          .help = std::move(help)};
}

Parameter boolean(std::string name, bool otherwise, std::string help) {
  return {.name = std::move(name),
          .kind = ParameterKind::kBoolean,
          .default_value = otherwise,
          .choices = {},
          .help = std::move(help)};
}

Parameter choice(std::string name, std::string otherwise, std::vector<std::string> choices,
                 std::string help) {
  return {.name = std::move(name),
          .kind = ParameterKind::kChoice,
          .default_value = std::move(otherwise),
          .choices = std::move(choices),
          .help = std::move(help)};
}

Parameter text(std::string name, std::string otherwise, std::string help) {
  return {.name = std::move(name),
          .kind = ParameterKind::kText,
          .default_value = std::move(otherwise),
          .choices = {},
          .help = std::move(help)};
}

Parameter integer_list(std::string name, std::int64_t minimum, std::int64_t maximum,
                       std::string help) {
  return {.name = std::move(name),
          .kind = ParameterKind::kIntegerList,
          .default_value = nlohmann::json::array(),
          .minimum = static_cast<double>(minimum),
          .maximum = static_cast<double>(maximum),
          .choices = {},
          .help = std::move(help)};
}

}  // namespace triescope
