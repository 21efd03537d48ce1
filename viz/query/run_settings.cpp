#include "viz/query/run_settings.h"

#include <nlohmann/json.hpp>

namespace triescope::viz {
namespace {

std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::vector<RunSetting> run_settings(const capture::RunInfo& run) {
  std::vector<RunSetting> found;
  const auto settings = nlohmann::json::parse(run.settings_json, nullptr, false);
  const auto titles = nlohmann::json::parse(run.setting_titles_json, nullptr, false);
  const auto words = nlohmann::json::parse(run.setting_words_json, nullptr, false);
  if (!settings.is_object()) return found;
  const auto text_in = [](const nlohmann::json& texts, const std::string& name) {
    return texts.is_object() && texts.contains(name) && texts[name].is_string()
               ? texts[name].get<std::string>()
               : std::string();
  };
  for (const auto& [name, value] : settings.items()) {
    const std::string word = text_in(words, name);
    found.push_back({name, text_in(titles, name), word.empty() ? text_of(value) : word});
  }
  return found;
}

std::string settings_text(const capture::RunInfo& run) {
  std::string text;
  for (const RunSetting& setting : run_settings(run))
    text += (text.empty() ? "" : ", ") + setting.shown() +
            (setting.value.empty() ? "" : " " + setting.value);
  return text;
}

}  // namespace triescope::viz
