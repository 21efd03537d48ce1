#include "viz/panels/run_summary.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/counted.h"
#include "core/base/json_io.h"
#include "viz/panels/row_source.h"
#include "viz/panels/whole_memory.h"
#include "viz/query/acceptance.h"
#include "viz/query/compare_figures.h"
#include "viz/query/run_settings.h"
#include "viz/text/number_text.h"
#include "viz/text/timed_text.h"

namespace triescope::viz {
namespace {

using SummaryLines = std::vector<SummaryLine>;

std::string whole_percent(double share) {
  constexpr double kLeast = 0.005;
  return share > 0 && share < kLeast ? "< 1 %" : number_text(100 * share, 0) + " %";
}

std::string slots_text(std::int64_t slots, std::int64_t bytes_per_token) {
  std::string text = counted(slots, "slot");
  if (bytes_per_token > 0)
    text += ", " + bytes_text(static_cast<double>(slots) * static_cast<double>(bytes_per_token));
  return text;
}

// How the best text ended and its score; of several texts those of all.
SummaryLines ending_lines(const Scene& scene) {
  SummaryLines lines;
  static constexpr const char* kScoreHelp = "Σ log p of the text, after the length penalty";
  int returned = 0;
  for (const capture::SequenceRow& row : scene.capture->sequences())
    returned += row.rank >= 0 && row.tick < scene.cursor;
  for (const capture::SequenceRow& row : scene.capture->sequences()) {
    if (row.rank < 0 || row.tick >= scene.cursor) continue;
    if (returned > 1) {
      lines.push_back({"text " + std::to_string(row.rank + 1),
                       (std::isnan(row.score) ? "" : logprob_text(row.score) + ", ") + row.finish,
                       std::string(kScoreHelp) + ", and how it ended"});
      continue;
    }
    lines.push_back({"ended", row.finish, "eos: by a token that ends texts; length: by the limit"});
    if (!std::isnan(row.score)) lines.push_back({"score", logprob_text(row.score), kScoreHelp});
  }
  return lines;
}

SummaryLines draft_lines(const Scene& scene, const RunFigures& run) {
  SummaryLines lines;
  if (run.drafted == 0) return lines;
  lines.push_back({"drafts", std::to_string(run.drafted), "sent to the target"});
  lines.push_back({"accepted", std::to_string(run.accepted), "of these that became text"});
  if (run.accepted_per_step)
    lines.push_back({"accepted a step", number_text(*run.accepted_per_step, 2),
                     "accepted drafts ÷ steps after prefill"});
  if (const auto drafter = drafter_figures(*scene.capture, scene.cursor, scene.range)) {
    lines.push_back({"drafter's forwards", std::to_string(drafter->forwards),
                     std::string("forwards of the ") + std::string(owner_name(drafter->whose))});
    lines.push_back(
        {"drafter's rows", std::to_string(drafter->rows), "in these forwards together"});
    if (drafter->kv_peak > 0)
      lines.push_back({"drafter's KV", counted(drafter->kv_peak, "slot"),
                       "most tokens that were live in it at once"});
  }
  return lines;
}

Acceptance depths_seen(const Scene& scene) {
  return acceptance_by(*scene.capture, AcceptanceBy::kDepth, scene.cursor, scene.range);
}

SummaryLines depth_lines(const Scene& scene) {
  SummaryLines lines;
  for (const AcceptanceGroup& depth : depths_seen(scene).groups) {
    const ShareInterval interval = depth.interval();
    lines.push_back(
        {.label = "depth " + depth.label,
         .value = whole_percent(depth.share()) + " of " + std::to_string(depth.n),
         .help = std::to_string(depth.accepted) + " of the " + counted(depth.n, "place") +
                 " with drafts at this depth that the text got to; 95 % interval " +
                 number_text(100 * interval.low, 0) + " to " + whole_percent(interval.high),
         .share = depth.share()});
  }
  return lines;
}

SummaryLines time_lines(const Scene& scene, const RunFigures& run) {
  SummaryLines lines;
  if (run.prefill_us > 0)
    lines.push_back({"prefill", duration_text(static_cast<double>(run.prefill_us)),
                     "the prompt's forward: time to the first token"});
  if (run.decode_us == 0) return lines;
  const auto whole = static_cast<double>(run.decode_us);
  lines.push_back({"decoding", duration_text(whole), "the phases after prefill together"});
  for (int i = 0; i < capture::kPhaseCount; ++i) {
    const auto us = static_cast<double>(run.phase_us[static_cast<std::size_t>(i)]);
    if (us == 0) continue;
    const std::string phase = to_string(static_cast<capture::Phase>(i));
    lines.push_back({.label = phase,
                     .value = duration_text(us) + ", " + whole_percent(us / whole),
                     .help = "phase " + phase + " of all steps after prefill, and its share",
                     .share = us / whole});
  }
  if (scene.capture->run().timed_while_drawing)
    lines.push_back({"times", kTimedWhileDrawing, kTimedWhileDrawingHelp});
  return lines;
}

SummaryLines memory_lines(const Scene& scene) {
  const KvFigures kv = kv_figures(*scene.capture, scene.cursor, scene.range);
  const capture::RunInfo& run = scene.capture->run();
  const std::int64_t bytes = run.kv_bytes_per_token;
  SummaryLines lines;
  const auto slots = [&](const char* label, std::int64_t count, const char* help) {
    if (count > 0) lines.push_back({label, slots_text(count, bytes), help});
  };
  slots("held at most", kv.peak_held, "slots of the target that were live or garbage at once");
  slots("live at most", kv.peak_live, "slots whose token could still be attended to");
  slots("garbage at most", kv.peak_garbage, "slots of dead tokens that were not free yet");
  slots("reserved", kv.peak_reserved, "slots allocated, used or not");
  if (bytes > 0) slots("moved", kv.moved_bytes / bytes, "tokens copied from slot to slot");
  slots("greedy would hold", kv.greedy, "a single text of this length");
  if (run.kind == capture::RunKind::kBeams)
    slots("batch would hold", kv.batch_beam, "beams with a cache each");
  const TogetherKv together = together_kv(scene);
  if (scene.capture->owners().size() > 1 && together.sum() > 0)
    lines.push_back({"all caches", bytes_text(together.sum()), together_text(scene, together)});
  if (const auto whole = whole_memory(scene, together)) {
    lines.push_back(
        {"weights", bytes_text(whole->weights + whole->draft_weights), "of all models together"});
    lines.push_back({"whole", bytes_text(whole->total()), whole_memory_text(*whole)});
  }
  return lines;
}

}  // namespace

SummaryLines result_lines(const Scene& scene, const StepRange& range, Told told) {
  const bool in_one_list = told == Told::kInOneList;
  const RunFigures run = run_figures(*scene.capture, scene.cursor, range);
  SummaryLines lines = {
      {"steps", std::to_string(run.steps),
       range ? "whole ones of the range" : "whole ones before the cursor, prefill included"}};
  if (range)
    lines.push_back({"tokens", std::to_string(run.emitted), "emitted in these steps"});
  else
    lines.push_back({"tokens", std::to_string(text_tokens_at(*scene.capture, scene.cursor)),
                     "of the best text at the cursor"});
  if (run.tokens_per_forward)
    lines.push_back({"tokens per forward", number_text(*run.tokens_per_forward, 2),
                     "tokens emitted ÷ forwards of the target, prefill's among both"});
  if (run.levels_gained)
    lines.push_back(
        {"levels gained", number_text(*run.levels_gained, 2) + " a step",
         "levels of the search that a forward decided beyond its first, by its drafts"});
  if (run.acceptance)
    lines.push_back({"acceptance", number_text(100 * *run.acceptance, 1) + " %",
                     "accepted drafts ÷ drafts sent to the target"});
  if (in_one_list && run.decode_us > 0)
    lines.push_back({"decoding", duration_text(static_cast<double>(run.decode_us)),
                     "the phases after prefill; pauses between them do not count"});
  if (run.tokens_per_second)
    lines.push_back({"tokens per second", number_text(*run.tokens_per_second, 1),
                     "tokens emitted after prefill ÷ time of decoding, of whole steps"});
  if (!in_one_list) return lines;
  if (const auto peak = kv_figures(*scene.capture, scene.cursor, range).peak_held; peak > 0)
    lines.push_back(
        {"KV at most", counted(peak, "slot"), "held at once by the target, live or garbage"});
  return lines;
}

SummaryLines setting_lines(const capture::RunInfo& run) {
  SummaryLines lines;
  for (const RunSetting& setting : run_settings(run))
    lines.push_back({setting.shown(), setting.value, setting.title.empty() ? "" : setting.name});
  return lines;
}

std::vector<SummarySection> run_summary(const Scene& scene) {
  const RunFigures run = run_figures(*scene.capture, scene.cursor, scene.range);
  SummaryLines result = result_lines(scene, scene.range, Told::kInSections);
  for (SummaryLine& line : ending_lines(scene)) result.push_back(std::move(line));
  std::vector<SummarySection> sections = {
      {"Result", std::move(result)},
      {"Drafts", draft_lines(scene, run), "drafts"},
      {"Accepted, by depth", depth_lines(scene), "acceptance-by"},
      {"Time", time_lines(scene, run), "timeline"},
      {"Memory", memory_lines(scene), "memory"},
      {"Run", made_lines(scene, Told::kInSections)},
      {"Settings", setting_lines(scene.capture->run())}};
  std::erase_if(sections, [](const SummarySection& section) { return section.lines.empty(); });
  return sections;
}

std::string run_summary_csv(const Scene& scene) {
  std::ostringstream out;
  out << "figure,value\n";
  if (!scene.capture) return out.str();
  const auto put = [&](const std::string& name, const std::string& value) {
    out << csv_field(name) << ',' << csv_field(value) << '\n';
  };
  const capture::RunInfo& run = scene.capture->run();
  put("method", run.method);
  for (const NamedFigure& figure : named_figures(*scene.capture, scene.cursor, scene.range))
    if (figure.value)
      put(figure.name, figure.is_whole ? std::to_string(static_cast<std::int64_t>(*figure.value))
                                       : csv_double(*figure.value));
  for (const AcceptanceGroup& depth : depths_seen(scene).groups) {
    put("reached_" + depth.label, std::to_string(depth.n));
    put("accept_" + depth.label, csv_double(depth.share()));
  }
  if (const auto* const best = best_sequence(*scene.capture, scene.cursor)) {
    put("finish", best->finish);
    put("score", csv_number(best->score));
  }
  put("kv_policy", run.kv_policy);
  put("seed", std::to_string(run.seed));
  put("max_new_tokens", std::to_string(run.max_new_tokens));
  if (run.timed_while_drawing) put("timed_while_drawing", "true");
  const auto settings = json_or_discarded(run.settings_json);
  if (settings.is_object())
    for (const auto& [name, value] : settings.items()) put(name, json_text(value));
  return out.str();
}

}  // namespace triescope::viz
