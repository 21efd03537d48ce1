// How a run was made, as lines for people.

#include "core/base/counted.h"
#include "core/capture/run_fields.h"
#include "viz/panels/row_source.h"
#include "viz/panels/run_summary.h"
#include "viz/query/expert_use.h"
#include "viz/query/left_out_layers.h"
#include "viz/text/number_text.h"
#include "viz/text/timed_text.h"

namespace triescope::viz {

std::vector<SummaryLine> made_lines(const Scene& scene, Told told) {
  const capture::RunInfo& run = scene.capture->run();
  const capture::RunFields model(run.model_json);
  const auto field = [&](const char* key) { return model.shown(key); };
  std::vector<SummaryLine> lines = {
      {"model", field("name")},
      {"family", field("family") + ", " + field("dtype") + " on " + field("device")},
      {"size",
       field("layers") + " layers, " + field("kv_heads") + " KV heads × " + field("head_dim")}};
  if (const capture::RunFields draft = model.part("draft"); !draft.empty())
    lines.push_back({owner_name(draft.text("family") == "draft head" ? capture::Whose::kHead
                                                                     : capture::Whose::kDraft),
                     draft.shown("name"), "writes ahead what the model then checks"});
  static constexpr const char* kStatus[] = {"running", "done", "stopped", "failed"};
  lines.push_back({"method", run.method_title.empty() ? run.method : run.method_title});
  if (const auto left_out = left_out_layers(*scene.capture, scene.cursor); !left_out.empty())
    lines.push_back(
        {"layers left out", left_out_text(left_out),
         "a square a layer, the first on the left; hollow: drafting does without it; half "
         "filled: with its attention (above) or its MLP (below) alone",
         left_out});
  const std::vector<SummaryLine> rest = {
      {"KV policy", run.kv_policy},
      {"KV per token", bytes_text(static_cast<double>(run.kv_bytes_per_token)),
       "layers × KV heads × head dim × 2 (K and V) × bytes of the dtype"},
      {"prompt", counted(run.prompt_tokens.size(), "token")},
      {"limit", counted(run.max_new_tokens, "new token")},
      {"seed", std::to_string(run.seed)},
      {"status", kStatus[static_cast<int>(scene.capture->status())]},
      {"recorded", run.created_utc}};
  lines.insert(lines.end(), rest.begin(), rest.end());
  if (run.timed_while_drawing && told == Told::kInOneList)
    lines.push_back({"times", kTimedWhileDrawing, kTimedWhileDrawingHelp});
  if (const MixtureSize mixture = mixture_size(*scene.capture); mixture.experts > 0)
    lines.push_back({"experts",
                     std::to_string(mixture.used) + " of " + std::to_string(mixture.experts),
                     "the experts of a layer that a row goes through"});
  if (run.sliding_window > 0)
    lines.push_back(
        {"window", std::to_string(run.sliding_window), "position(i) − position(j) < window"});
  if (!scene.capture->status_message().empty())
    lines.push_back({"message", scene.capture->status_message()});
  if (const capture::ProgramRow& program = scene.capture->program(); !program.name.empty())
    lines.push_back({"program",
                     program.name + (program.version.empty() ? "" : " " + program.version),
                     program.command});
  return lines;
}

}  // namespace triescope::viz
