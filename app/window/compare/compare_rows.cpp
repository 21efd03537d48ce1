#include "app/window/compare/compare_rows.h"

#include <algorithm>
#include <utility>

#include "core/base/counted.h"
#include "core/capture/run_fields.h"
#include "viz/query/run_settings.h"

namespace triescope::app {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;  // what it is, its value

Facts settings_of(const capture::RunInfo& run) {
  Facts facts;
  for (const viz::RunSetting& setting : viz::run_settings(run))
    facts.emplace_back(setting.shown(), setting.value);
  return facts;
}

Facts facts_of(const capture::Capture& capture) {
  const capture::RunInfo& run = capture.run();
  const capture::RunFields model(run.model_json);
  return {
      {"", model.shown("name") + " (" + model.shown("dtype") + ", " + model.shown("device") + ")"},
      {"prompt", "“" + run.prompt_text + "”"},
      {"seed", std::to_string(run.seed)},
      {"limit", std::to_string(run.max_new_tokens)},
      {"", counted(capture.steps().size(), "step")}};
}

}  // namespace

std::vector<CompareRow> compare_rows(const Workspace& workspace) {
  std::vector<CompareRow> rows;
  const auto& documents = workspace.documents.all();
  for (const auto& document : documents) {
    if (document.get() == workspace.active()) continue;
    CompareRow row{document.get(), document->title, ""};
    const capture::Capture& own = *document->capture;
    const auto say = [&](const std::pair<std::string, std::string>& fact) {
      row.differs += (row.differs.empty() ? "" : ", ") + fact.first +
                     (fact.first.empty() ? "" : " ") + fact.second;
    };
    for (const auto& fact : settings_of(own.run()))
      if (std::ranges::any_of(documents, [&](const auto& other) {
            if (other->capture->run().method != own.run().method) return false;
            const Facts others = settings_of(other->capture->run());
            const auto same =
                std::ranges::find(others, fact.first, &std::pair<std::string, std::string>::first);
            return same == others.end() || same->second != fact.second;
          }))
        say(fact);
    const Facts facts = facts_of(own);
    for (std::size_t i = 0; i < facts.size(); ++i)
      if (std::ranges::any_of(documents, [&](const auto& other) {
            return facts_of(*other->capture)[i].second != facts[i].second;
          }))
        say(facts[i]);
    if (row.differs.empty()) row.differs = "the same settings";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace triescope::app
