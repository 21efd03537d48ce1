#include "app/session/text_tools.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace triescope::app {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string value_text(const Parameter& parameter, const nlohmann::json& value) {
  const std::string word = value.is_number() ? word_of(parameter, value) : "";
  return word.empty() ? value.dump() : word;
}

std::string range_text(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::kChoice) {
    std::string text;
    for (const std::string& choice : parameter.choices) text += (text.empty() ? "" : "|") + choice;
    return text;
  }
  const auto number = [](double value) {
    std::string text = nlohmann::json(value).dump();
    if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0)
      text.resize(text.size() - 2);
    return text;
  };
  if (std::isfinite(parameter.minimum) && std::isfinite(parameter.maximum))
    return number(parameter.minimum) + " to " + number(parameter.maximum);
  if (std::isfinite(parameter.minimum)) return "at least " + number(parameter.minimum);
  return "";
}

}  // namespace triescope::app
