#include "viz/export/run_facts.h"

#include "core/capture/run_fields.h"
#include "viz/text/timed_text.h"

namespace triescope::viz {

Facts run_facts(const capture::Capture& capture) {
  const capture::RunInfo& run = capture.run();
  const capture::RunFields model(run.model_json), versions(run.versions_json);
  Facts facts = {{"Model", model.shown("name") + " (" + model.shown("dtype") + ", " +
                               model.shown("device") + ")"},
                 {"Method", run.method},
                 {"Settings", run.settings_json},
                 {"KV policy", run.kv_policy},
                 {"Seed", std::to_string(run.seed)},
                 {"Recorded", run.created_utc},
                 {"Software", "triescope " + versions.shown("triescope") + ", libtorch " +
                                  versions.shown("libtorch")}};
  if (run.timed_while_drawing) facts.push_back({"Times", kTimedWhileDrawing});
  return facts;
}

}  // namespace triescope::viz
