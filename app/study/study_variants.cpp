#include "app/study/study_variants.h"

#include "app/session/text_tools.h"
#include "core/base/json_io.h"

namespace triescope::app {

using nlohmann::json;

std::map<std::string, std::set<std::string>> swept_settings(const std::vector<StudyRow>& rows) {
  std::map<std::string, json> first;  // by name
  std::map<std::string, std::set<std::string>> swept;
  for (const StudyRow& row : rows) {
    const auto name = row.find("name"), settings = row.find("settings");
    if (name == row.end() || settings == row.end() || !settings->is_object()) continue;
    const auto [known, is_new] = first.emplace(name->get<std::string>(), *settings);
    if (is_new) continue;
    for (const auto& [setting, value] : settings->items())
      if (known->second.value(setting, json()) != value) swept[known->first].insert(setting);
  }
  return swept;
}

StudyVariants::StudyVariants(const std::vector<StudyRow>& rows) : settings_(swept_settings(rows)) {
  std::set<json> models;
  for (const StudyRow& row : rows) models.insert(row.value("model", json()));
  several_models_ = models.size() > 1;
}

std::string StudyVariants::of(const StudyRow& row) const {
  std::string text = row.at("name").get<std::string>();
  if (const auto swept = settings_.find(text); swept != settings_.end())
    for (const std::string& setting : swept->second)
      text += ", " + setting + " = " + json_text(row.at("settings").value(setting, json()));
  if (several_models_ && row.at("model").is_string())
    text += ", " + row.at("model").get<std::string>();
  return text;
}

}  // namespace triescope::app
