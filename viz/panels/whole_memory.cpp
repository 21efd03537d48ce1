#include "viz/panels/whole_memory.h"

#include <algorithm>
#include <map>

#include "core/base/counted.h"
#include "core/capture/run_fields.h"
#include "viz/panels/row_source.h"
#include "viz/query/kv_levels.h"
#include "viz/query/step_so_far.h"
#include "viz/text/number_text.h"
#include "viz/text/spoken_text.h"

namespace triescope::viz {
namespace {

// together_kv() where slots were not recorded: at the ends of steps.
TogetherKv together_at_ends(const Scene& scene) {
  std::map<std::int32_t, TogetherKv> ends;  // by step
  for (const capture::Whose whose : scene.capture->owners()) {
    const auto per_token = static_cast<double>(RowSource{whose}.kv_bytes_per_token(*scene.capture));
    for (const capture::MemoryRow& row : scene.capture->memory(whose)) {
      const capture::Tick tick = capture::make_tick(row.step, capture::Phase::kCommit);
      if (tick >= scene.cursor || !scene.in_range(row.step)) continue;
      TogetherKv& end = ends[row.step];
      end.tick = tick;
      (whose == capture::Whose::kTarget ? end.target : end.others) +=
          static_cast<double>(row.live + row.garbage) * per_token;
    }
  }
  TogetherKv most;
  for (const auto& [step, end] : ends)
    if (end.sum() > most.sum()) most = end;
  return most;
}

// "4.10 MB", or "4.10 MB + 0.80 MB" with that of a drafter.
std::string with_drafts(double target, double draft) {
  return bytes_text(target) + (draft > 0 ? " + " + bytes_text(draft) : "");
}

}  // namespace

TogetherKv together_kv(const Scene& scene) {
  const auto owners = scene.capture->owners();
  std::vector<capture::Tick> ticks;
  std::vector<double> per_token;  // by owner; asked once, since a drafter's is read out of JSON
  for (const capture::Whose whose : owners) {
    per_token.push_back(static_cast<double>(RowSource{whose}.kv_bytes_per_token(*scene.capture)));
    for (const capture::KvLevel& level : scene.capture->kv_levels(whose))
      if (level.tick < scene.cursor && scene.in_range(capture::step_of(level.tick)))
        ticks.push_back(level.tick);
  }
  std::ranges::sort(ticks);
  ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
  TogetherKv most;
  for (const capture::Tick tick : ticks) {
    TogetherKv now{.tick = tick};
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const capture::KvLevel level = kv_level_at(*scene.capture, tick + 1, owners[i]);
      const std::int32_t live = level.tick == tick ? level.peak_live : level.live;
      (owners[i] == capture::Whose::kTarget ? now.target : now.others) +=
          static_cast<double>(live + level.garbage) * per_token[i];
    }
    if (now.sum() > most.sum()) most = now;
  }
  return most;
}

std::optional<WholeMemory> whole_memory(const Scene& scene, const TogetherKv& together) {
  const capture::RunFields model(scene.capture->run().model_json), draft = model.part("draft");
  const auto bytes = [](const capture::RunFields& of, const char* name) {
    return of.part("memory").number(name, 0);
  };
  WholeMemory whole;
  whole.weights = bytes(model, "weights");
  if (whole.weights <= 0) return std::nullopt;
  whole.draft_weights = bytes(draft, "weights");
  whole.scratch = bytes(model, "scratch") + bytes(draft, "scratch");
  for (const capture::StepRow& row : scene.capture->steps())
    if (row.step > 0 && scene.in_range(row.step) && has_finished(row.step, scene.cursor))
      whole.logit_rows = std::max(whole.logit_rows, row.forward_rows);
  whole.logits = 4.0 * whole.logit_rows * model.number("vocab_size", 0);
  const TogetherKv kv = together.sum() > 0 ? together : together_at_ends(scene);
  whole.kv = kv.target;
  whole.draft_kv = kv.others;
  whole.tick = kv.tick;
  return whole;
}

std::string whole_memory_text(const WholeMemory& whole) {
  return "whole: about " + bytes_text(whole.total()) + " (step " +
         std::to_string(capture::step_of(whole.tick)) + "): weights " +
         with_drafts(whole.weights, whole.draft_weights) + ", KV " +
         with_drafts(whole.kv, whole.draft_kv) + ", logits " + bytes_text(whole.logits) +
         ", activations " + bytes_text(whole.scratch);
}

std::vector<std::string> whole_memory_lines(const WholeMemory& whole) {
  std::vector<std::string> lines = {"weights of the target: " + bytes_text(whole.weights)};
  if (whole.draft_weights > 0)
    lines.push_back("weights of what drafts: " + bytes_text(whole.draft_weights));
  lines.push_back("KV of the target: " + bytes_text(whole.kv));
  if (whole.draft_kv > 0) lines.push_back("KV of what drafts: " + bytes_text(whole.draft_kv));
  lines.push_back("logits of " + counted(whole.logit_rows, "row") +
                  ", the most in a forward: " + bytes_text(whole.logits));
  lines.push_back("activations of a prefill's piece: " + bytes_text(whole.scratch));
  lines.push_back("click: to step " + std::to_string(capture::step_of(whole.tick)) + ", after " +
                  capture::to_string(capture::phase_of(whole.tick)) + ", where KV held most");
  return lines;
}

std::string together_text(const Scene& scene, const TogetherKv& most) {
  const auto owners = scene.capture->owners();
  if (owners.size() < 2) return "";
  if (most.sum() <= 0) return "";
  std::string names;
  for (const capture::Whose whose : owners)
    names += (names.empty() ? "" : " and ") + std::string(owner_name(whose));
  return "KV of " + names + " together: at most " + bytes_text(most.sum()) + " (step " +
         std::to_string(capture::step_of(most.tick)) + ")";
}

std::string weights_text(const Scene& scene) {
  std::string text;
  for (const capture::Whose whose : scene.capture->owners()) {
    const RowSource::Weights weights = RowSource{whose}.weights(*scene.capture);
    if (weights.file_bytes <= 0 && weights.parameters <= 0) continue;
    text += (text.empty() ? "weights: " : ", ") + std::string(owner_name(whose)) + " " +
            (weights.file_bytes > 0 ? bytes_text(static_cast<double>(weights.file_bytes))
                                    : count_text(weights.parameters) + " parameters");
  }
  return text;
}

}  // namespace triescope::viz
