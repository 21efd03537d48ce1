#include "app/session/text_tools.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include "core/base/json_io.h"

namespace triescope::app {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<std::string> listed_names(const std::string& list) {
  std::vector<std::string> names;
  std::stringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');)
    if (!name.empty()) names.push_back(name);
  return names;
}

std::size_t place_of(std::vector<std::string>& list, const std::string& name) {
  const auto found = std::find(list.begin(), list.end(), name);
  if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
  list.push_back(name);
  return list.size() - 1;
}

std::string value_text(const Parameter& parameter, const nlohmann::json& value) {
  const std::string word = value.is_number() ? word_of(parameter, value) : "";
  return word.empty() ? dump_json(value) : word;
}

std::string range_text(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::kChoice) {
    std::string text;
    for (const std::string& choice : parameter.choices) text += (text.empty() ? "" : "|") + choice;
    return text;
  }
  const auto number = [](double value) {
    std::string text = dump_json(nlohmann::json(value));
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
