#include "app/study/capture_row.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/session/result_json.h"
#include "viz/query/acceptance.h"
#include "viz/query/compare_figures.h"

namespace triescope::app {
namespace {

using capture::Capture;
using capture::Phase;
using nlohmann::json;

json or_null(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

json object_in(const std::string& text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_object() ? value : json::object();
}

std::string file_name_of(const json& model) {
  return std::filesystem::path(model.value("path", "")).filename().string();
}

void add_steps(const Capture& capture, StudyRow& row) {
  std::int64_t emitted = 0, prefill = 0, accepted = 0, steps = 0, drafting = 0;
  std::vector<std::int64_t> histogram;
  for (const capture::StepRow& step : capture.steps()) {
    ++steps;
    emitted += step.emitted;
    if (step.step == 0) {
      prefill = step.emitted;
      continue;
    }
    ++drafting;
    accepted += step.accepted;
    const auto place = static_cast<std::size_t>(std::max(step.accepted, 0));
    if (histogram.size() <= place) histogram.resize(place + 1);
    ++histogram[place];
  }
  row["steps"] = steps;
  row["target_forwards"] = steps;
  row["emitted_tokens"] = emitted;
  row["prefill_tokens"] = prefill;
  row["accepted_drafts"] = accepted;
  row["accepted_histogram"] = histogram;
  if (drafting > 0)
    row["accepted_per_step"] = static_cast<double>(accepted) / static_cast<double>(drafting);
  const viz::CompareFigures figures = viz::compare_figures(capture, capture.end_tick());
  row["tokens_per_forward"] = or_null(figures.tokens_per_forward);
  row["tokens_per_second"] = or_null(figures.tokens_per_second);
  row["timed_while_drawing"] = figures.timed_while_drawing;
}

void add_times(const Capture& capture, StudyRow& row) {
  double prefill = 0, decode = 0;
  std::array<double, capture::kPhaseCount> phases = {};
  for (const capture::PhaseRow& phase : capture.phases()) {
    const double ms = static_cast<double>(phase.duration_us) / 1000;
    if (capture::step_of(phase.tick) == 0) {
      prefill += ms;
      continue;
    }
    decode += ms;
    phases[static_cast<std::size_t>(capture::phase_of(phase.tick))] += ms;
  }
  row["prefill_ms"] = prefill;
  row["decode_ms"] = decode;
  for (int i = 0; i < capture::kPhaseCount; ++i)
    row[std::string(to_string(static_cast<Phase>(i))) + "_ms"] =
        phases[static_cast<std::size_t>(i)];
}

void add_text(const Capture& capture, StudyRow& row) {
  for (const capture::SequenceRow& sequence : capture.sequences()) {
    if (sequence.rank != 0) continue;
    std::string text;
    for (const std::int32_t token : sequence.tokens) text += capture.piece(token);
    row["text"] = text;
    row["finish"] = sequence.finish;
    row["score"] = number_or_null(sequence.score);
  }
}

void add_memory(const Capture& capture, StudyRow& row) {
  std::int64_t live = 0, garbage = 0, held = 0, reserved = 0, moved = 0, greedy = 0, batch = 0;
  for (const capture::MemoryRow& step : capture.memory()) {
    live = std::max<std::int64_t>(live, step.live);
    garbage = std::max<std::int64_t>(garbage, step.garbage);
    held = std::max<std::int64_t>(held, step.live + step.garbage);
    reserved = std::max<std::int64_t>(reserved, step.reserved);
    greedy = std::max<std::int64_t>(greedy, step.greedy);
    batch = std::max<std::int64_t>(batch, step.batch_beam);
    moved += step.moved_bytes;
  }
  for (const capture::KvLevel& level : capture.kv_levels()) {
    live = std::max<std::int64_t>(live, level.peak_live);
    garbage = std::max<std::int64_t>(garbage, level.garbage);
    held = std::max<std::int64_t>(held, level.live + level.garbage);
  }
  const std::int64_t bytes = capture.run().kv_bytes_per_token;
  row["kv_policy"] = capture.run().kv_policy;
  row["kv_bytes_per_token"] = bytes;
  row["kv_peak_live_tokens"] = live;
  row["kv_peak_garbage_tokens"] = garbage;
  row["kv_peak_held_tokens"] = held;
  row["kv_peak_reserved_bytes"] = reserved * bytes;
  if (bytes > 0) row["kv_moved_tokens"] = moved / bytes;
  row["kv_greedy_tokens"] = greedy;
  row["kv_batch_beam_tokens"] = batch;
}

void add_drafter(const Capture& capture, StudyRow& row) {
  for (const capture::Whose whose : capture.owners()) {
    if (whose == capture::Whose::kTarget) continue;
    std::int64_t rows = 0, peak = 0;
    for (const capture::ForwardId& forward : capture.forwards(whose))
      rows += static_cast<std::int64_t>(capture.inputs(forward, whose).size());
    for (const capture::KvLevel& level : capture.kv_levels(whose))
      peak = std::max<std::int64_t>(peak, level.live + level.garbage);
    row["draft_forwards"] = capture.forwards(whose).size();
    row["draft_forward_rows"] = rows;
    if (peak > 0) row["draft_kv_peak_tokens"] = peak;
  }
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
  add_steps(capture, row);
  add_times(capture, row);
  add_text(capture, row);
  add_memory(capture, row);
  add_drafter(capture, row);
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
  row["prompt_tokens"] = run.prompt_tokens.size();
  row["seed"] = run.seed;
  row["repeat"] = 1;
  row["max_new_tokens"] = run.max_new_tokens;
  row["settings"] = settings;
  row["capture"] = path;
  row["accepted_by_depth"] = capture.nodes().empty() ? json(nullptr) : depths_of(capture);
  row["key"] = json{
      {"name", run.method},
      {"model", model.value("path", "")},
      {"prompt", run.prompt_tokens},
      {"seed", run.seed},
      {"max_new_tokens", run.max_new_tokens},
      {"method", run.method},
      {"settings", {{"values", settings}, {"capture", path}}},
      {"repeat",
       1}}.dump(-1, ' ', false, json::error_handler_t::replace);
  row.update(settings);
  return row;
}

}  // namespace triescope::app
