#include "viz/export/run_facts.h"

#include <nlohmann/json.hpp>

#include "viz/text/timed_text.h"

namespace triescope::viz {

Facts run_facts(const capture::Capture& capture) {
  const capture::RunInfo& run = capture.run();
  const auto model = nlohmann::json::parse(run.model_json, nullptr, false);
  const auto versions = nlohmann::json::parse(run.versions_json, nullptr, false);
  const auto field = [](const nlohmann::json& json, const char* key) {
    if (!json.is_object() || !json.contains(key)) return std::string("?");
    return json[key].is_string() ? json[key].get<std::string>() : json[key].dump();
  };
  Facts facts = {{"Model", field(model, "name") + " (" + field(model, "dtype") + ", " +
                               field(model, "device") + ")"},
                 {"Method", run.method},
                 {"Settings", run.settings_json},
                 {"KV policy", run.kv_policy},
                 {"Seed", std::to_string(run.seed)},
                 {"Recorded", run.created_utc},
                 {"Software", "triescope " + field(versions, "triescope") + ", libtorch " +
                                  field(versions, "libtorch")}};
  if (run.timed_while_drawing) facts.push_back({"Times", kTimedWhileDrawing});
  return facts;
}

}  // namespace triescope::viz
