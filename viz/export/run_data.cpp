#include "viz/export/run_data.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/base/json_io.h"
#include "viz/export/whole_file.h"
#include "viz/query/step_drafts.h"
#include "viz/query/step_range.h"
#include "viz/query/verdict_kinds.h"

namespace triescope::viz {
namespace {

using capture::Capture;
using capture::NodeRow;
using json = nlohmann::ordered_json;

// NaN, and the -1 that means "not applicable" in verdicts, become null.
json known(float value) { return std::isfinite(value) ? json(value) : json(nullptr); }
json known_share(float value) { return value < 0 ? json(nullptr) : known(value); }

json run_of(const Capture& capture) {
  const capture::RunInfo& run = capture.run();
  return {{"created_utc", run.created_utc},
          {"model", ordered_json_or_null(run.model_json)},
          {"method", run.method},
          {"settings", ordered_json_or_null(run.settings_json)},
          {"seed", run.seed},
          {"max_new_tokens", run.max_new_tokens},
          {"kv_policy", run.kv_policy},
          {"kv_bytes_per_token", run.kv_bytes_per_token},
          {"prompt", run.prompt_text},
          {"prompt_ids", run.prompt_tokens},
          {"conversation", ordered_json_or_null(run.conversation_json)},
          {"timed_while_drawing", run.timed_while_drawing},
          {"versions", ordered_json_or_null(run.versions_json)}};
}

// Token ids from the frontier down to the node.
json path_below(const Capture& capture, const StepDraft& draft) {
  std::vector<std::int32_t> path;
  for (std::int32_t node = draft.node; node != draft.frontier;) {
    const NodeRow& row = capture.nodes()[static_cast<std::size_t>(node)];
    path.push_back(row.token);
    node = row.parent;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// The code, or what the recorder says in place of one.
std::string reason_of(const capture::VerdictRow& row) {
  return row.reason == capture::Reason::kNone && !row.why.empty() ? row.why
                                                                  : capture::to_string(row.reason);
}

json drafts_of(const Capture& capture, std::int32_t step) {
  const capture::Tick cursor = capture::make_tick(step + 1, capture::Phase::kDraft);
  // The verdict on it as a draft, and whether it is part of the text: the target may choose a
  // withdrawn draft itself, as a bonus or a correction, and an accepted one may end the text.
  std::map<std::int32_t, capture::VerdictRow> verdicts;
  std::set<std::int32_t> text;
  for (const capture::VerdictRow& row : capture.verdicts(step)) {
    if (becomes_text(row.verdict)) text.insert(row.node);
    if (const auto known = verdicts.find(row.node);
        known == verdicts.end() || !judges_a_draft(known->second.verdict))
      verdicts[row.node] = row;
  }
  json out = json::array();
  for (const StepDraft& draft : step_drafts(capture, step, cursor)) {
    const NodeRow& row = capture.nodes()[static_cast<std::size_t>(draft.node)];
    const auto verdict = verdicts.find(row.node);
    const bool judged = verdict != verdicts.end();
    const float p = judged && verdict->second.p >= 0
                        ? verdict->second.p
                        : std::exp(capture.node_at(row.node, cursor).row.logprob);
    out.push_back(
        {{"path", path_below(capture, draft)},
         {"frontier", draft.frontier},
         {"node", row.node},
         {"source", capture.source_of(row)},
         {"p", known(p)},
         {"q", known_share(judged && verdict->second.q >= 0 ? verdict->second.q : row.q)},
         {"score", known(draft.score)},
         {"verdict", judged ? json(capture::to_string(verdict->second.verdict)) : json(nullptr)},
         {"reason", judged ? json(reason_of(verdict->second)) : json(nullptr)},
         {"text", text.contains(row.node)}});
  }
  return out;
}

// For beams: the token of the best live beam; if none is left, of the best text, if it ended in
// this step.
json newest_of_best(const Capture& capture, std::int32_t step) {
  std::int32_t best = -1;
  if (const auto live = capture.frontier(step); !live.empty()) best = live.front().node;
  for (const capture::SequenceRow& row : capture.sequences())
    if (best < 0 && row.rank == 0 && capture::step_of(row.tick) == step) best = row.node;
  if (best < 1 || capture::step_of(capture.nodes()[static_cast<std::size_t>(best)].tick) != step)
    return json::array();
  return {capture.nodes()[static_cast<std::size_t>(best)].token};
}

json emitted_of(const Capture& capture, std::int32_t step) {
  std::vector<std::int32_t> text;
  for (const capture::VerdictRow& row : capture.verdicts(step))
    if (becomes_text(row.verdict)) text.push_back(row.node);
  if (text.empty()) return newest_of_best(capture, step);
  const auto nodes = capture.nodes();
  std::sort(text.begin(), text.end(), [&](std::int32_t a, std::int32_t b) {
    return nodes[static_cast<std::size_t>(a)].depth < nodes[static_cast<std::size_t>(b)].depth;
  });
  json out = json::array();
  for (const std::int32_t node : text) out.push_back(nodes[static_cast<std::size_t>(node)].token);
  return out;
}

json frontier_of(const Capture& capture, std::int32_t step) {
  json out = json::array();
  for (const capture::FrontierRow& row : capture.frontier(step))
    out.push_back({{"node", row.node},
                   {"token", capture.nodes()[static_cast<std::size_t>(row.node)].token},
                   {"score", known(row.score)}});
  return out;
}

json sequences_of(const Capture& capture, std::int32_t step) {
  json out = json::array();
  for (const capture::SequenceRow& row : capture.sequences())
    if (capture::step_of(row.tick) == step)
      out.push_back({{"rank", row.rank},
                     {"tokens", row.tokens},
                     {"score", known(row.score)},
                     {"finish", row.finish}});
  return out;
}

json memory_of(const Capture& capture, std::int32_t step, capture::Whose whose) {
  const auto rows = capture.memory(whose);
  const auto row = std::lower_bound(
      rows.begin(), rows.end(), step,
      [](const capture::MemoryRow& a, std::int32_t wanted) { return a.step < wanted; });
  if (row == rows.end() || row->step != step) return nullptr;
  return {{"live", row->live}, {"garbage", row->garbage}, {"reserved", row->reserved}};
}

json times_of(const Capture& capture, std::int32_t step) {
  const capture::Tick first = capture::make_tick(step, capture::Phase::kDraft);
  const auto phases = capture.phases();
  json out = json::object();
  for (auto row = std::lower_bound(
           phases.begin(), phases.end(), first,
           [](const capture::PhaseRow&a, capture::Tick wanted) { return a.tick < wanted; });
       row != phases.end() && capture::step_of(row->tick) == step; ++row)
    out[capture::to_string(capture::phase_of(row->tick))] = row->duration_us;
  return out;
}

}  // namespace

std::string step_line(const Capture& capture, std::int32_t step, bool with_run) {
  const auto figures = capture.step(step);
  json line = {{"step", step}};
  if (with_run) line["run"] = run_of(capture);
  line["rows"] = figures ? json(figures->forward_rows) : json(nullptr);
  line["drafts"] = drafts_of(capture, step);
  line["accepted"] = figures ? json(figures->accepted) : json(nullptr);
  line["emitted"] = emitted_of(capture, step);
  line["frontier"] = frontier_of(capture, step);
  line["sequences"] = sequences_of(capture, step);
  line["memory"] = memory_of(capture, step, capture::Whose::kTarget);
  for (const capture::Whose whose : {capture::Whose::kDraft, capture::Whose::kHead})
    if (!capture.memory(whose).empty())
      line[std::string(capture::to_string(whose)) + "_memory"] = memory_of(capture, step, whose);
  line["time_us"] = times_of(capture, step);
  return dump_json(line);
}

void export_run_data(const Capture& capture, const std::string& path, StepRange range,
                     const ProgressSink& progress) {
  const auto [first, last] = range.value_or(std::pair(0, capture.last_step()));
  WholeFile whole(path);
  std::ofstream file(whole.path(), std::ios::binary);
  bool with_run = true;
  for (std::int32_t step = first; step <= last; ++step) {
    if (!capture.step(step)) continue;  // a slice of a run lacks earlier steps
    file << step_line(capture, step, with_run) << "\n";
    with_run = false;
    if (progress && step % 64 == 0) progress("exporting steps", step - first, last - first + 1);
  }
  whole.commit(file);
  if (progress) progress("exporting steps", last - first + 1, last - first + 1);
}

}  // namespace triescope::viz
