#include "viz/query/run_settings.h"

#include <nlohmann/json.hpp>

#include "core/base/json_io.h"
#include "core/capture/run_fields.h"

namespace triescope::viz {

std::vector<RunSetting> run_settings(const capture::RunInfo& run) {
  std::vector<RunSetting> found;
  const auto settings = json_or_discarded(run.settings_json);
  const capture::RunFields titles(run.setting_titles_json), words(run.setting_words_json);
  if (!settings.is_object()) return found;
  for (const auto& [name, value] : settings.items()) {
    const std::string word = words.text(name);
    found.push_back({name, titles.text(name), word.empty() ? json_text(value) : word});
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
