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
  if (!settings.is_object()) return found;
  for (const auto& [name, value] : settings.items()) {
    RunSetting& setting = found.emplace_back(RunSetting{name, "", text_of(value)});
    if (titles.is_object() && titles.contains(name) && titles[name].is_string())
      setting.title = titles[name].get<std::string>();
  }
  return found;
}

}  // namespace triescope::viz
