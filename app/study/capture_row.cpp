#include "app/study/capture_row.h"

#include <filesystem>

#include "app/session/result_json.h"
#include "core/base/json_io.h"
#include "viz/query/acceptance.h"
#include "viz/query/run_figures.h"

namespace triescope::app {
namespace {

using capture::Capture;
using nlohmann::json;

json object_in(const std::string& text) {
  json value = json_or_discarded(text);
  return value.is_object() ? value : json::object();
}

std::string file_name_of(const json& model) {
  return std::filesystem::path(model.value("path", "")).filename().string();
}

// Every figure that a capture knows, by its column.
void add_figures(const Capture& capture, StudyRow& row) {
  const capture::Tick end = capture.end_tick();
  for (const viz::NamedFigure& figure : viz::named_figures(capture, end)) {
    if (!figure.value) continue;
    row[figure.name] =
        figure.is_whole ? json(static_cast<std::int64_t>(*figure.value)) : json(*figure.value);
  }
  row["accepted_histogram"] = viz::run_figures(capture, end).histogram;
  row["timed_while_drawing"] = capture.run().timed_while_drawing;
  row["kv_policy"] = capture.run().kv_policy;
  const capture::SequenceRow* const best = viz::best_sequence(capture, end);
  if (!best) return;
  std::string text;
  for (const std::int32_t token : best->tokens) text += capture.piece(token);
  row["text"] = text;
  row["finish"] = best->finish;
  row["score"] = number_or_null(best->score);
}

}  // namespace

json depths_of(const Capture& capture) {
  json list = json::array();
  for (const viz::AcceptanceGroup& depth :
       viz::acceptance_by(capture, viz::AcceptanceBy::kDepth, capture.end_tick()).groups)
    list.push_back({{"depth", static_cast<int>(depth.order)},
                    {"reached", depth.n},
                    {"accepted", depth.accepted}});
  return list;
}

StudyRow row_of_capture(const Capture& capture, const std::string& path) {
  const capture::RunInfo& run = capture.run();
  const json settings = object_in(run.settings_json), model = object_in(run.model_json);
  StudyRow row = StudyRow::object();
  for (const StudyMetric& metric : study_metrics()) row[metric.name] = nullptr;
  add_figures(capture, row);
  row["status"] = "done";
  row["message"] = nullptr;
  row["finished_at"] = run.created_utc;
  row["place"] = 0;
  row["name"] = run.method;
  row["method"] = run.method;
  row["model"] = file_name_of(model);
  row["draft"] = nullptr;
  row["category"] = "own";
  row["prompt"] = 1;
  row["prompt_text"] = run.prompt_text;
  row["seed"] = run.seed;
  row["repeat"] = 1;
  row["max_new_tokens"] = run.max_new_tokens;
  row["settings"] = settings;
  row["capture"] = path;
  row["accepted_by_depth"] = capture.nodes().empty() ? json(nullptr) : depths_of(capture);
  row["key"] = dump_json(json{{"name", run.method},
                              {"model", model.value("path", "")},
                              {"prompt", run.prompt_tokens},
                              {"seed", run.seed},
                              {"max_new_tokens", run.max_new_tokens},
                              {"method", run.method},
                              {"settings", {{"values", settings}, {"capture", path}}},
                              {"repeat", 1}});
  row.update(settings);
  return row;
}

}  // namespace triescope::app
