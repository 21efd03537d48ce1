#include "app/session/result_json.h"

#include <cmath>

#include "core/kernels/cpu_variant.h"
#include "core/model/heads/draft_head.h"
#include "core/model/memory_need.h"
#include "core/session/model_json.h"

namespace triescope::app {
namespace {

using nlohmann::json;

json draft_json(const RunResult& result, const ModelInfo& model, const RunContext& context) {
  if (!context.draft_model && !context.draft_head) return nullptr;
  const DraftHead* head = context.draft_head;
  return {{"path", head ? head->path : context.draft_model->info().path},
          {"kind", head ? formats::to_string(head->config.kind) : "model"},
          {"parameters", head ? head->parameters : context.draft_model->info().parameters},
          {"device", head ? model.device : context.draft_model->info().device},
          {"forwards", result.drafter_cost.forwards},
          {"forward_rows", result.drafter_cost.forward_rows},
          {"kv_bytes_per_token", result.drafter_cost.kv_bytes_per_token},
          {"kv_peak_tokens", result.drafter_cost.kv_peak_tokens}};
}

// Bytes. Weights, scratch and logits are estimates (memory_need.h); the peaks of the two caches may
// lie in different steps.
json whole_memory_json(const RunResult& result, const ModelInfo& model, const RunContext& context) {
  json memory = memory_json(model);
  memory["kv"] = result.peak_held_tokens * result.kv_bytes_per_token;
  memory["draft_kv"] =
      result.drafter_cost.kv_peak_tokens * std::int64_t{result.drafter_cost.kv_bytes_per_token};
  memory["draft_weights"] = 0;
  if (const DraftHead* const head = context.draft_head) {
    memory["draft_weights"] = head_need(head->parameters, head->file_bytes, load_options_of(model));
  } else if (context.draft_model) {
    const json draft = memory_json(context.draft_model->info());
    memory["draft_weights"] = draft.at("weights");
    for (const char* part : {"scratch", "logits"})
      memory[part] = memory.at(part).get<std::int64_t>() + draft.at(part).get<std::int64_t>();
  }
  std::int64_t whole = 0;
  for (const json& part : memory) whole += part.get<std::int64_t>();
  memory["whole"] = whole;
  return memory;
}

json levels_json(const RunResult& result) {
  if (!result.levels_gained()) return nullptr;
  return {{"a_step", *result.levels_gained()}, {"histogram", result.levels_histogram}};
}

// The experts that a mixture's forwards read, beside those that one row reads.
json experts_json(const RunResult& result, const ModelInfo& model) {
  if (result.expert_layers == 0) return nullptr;
  const double more = (result.experts_a_layer - model.experts_used) * result.expert_layers;
  return {{"of", model.experts},
          {"a_row", model.experts_used},
          {"a_forward", result.experts_a_layer},
          {"layers", result.expert_layers},
          {"bytes_a_row", model.active_bytes},
          {"bytes_a_forward", static_cast<double>(model.active_bytes) +
                                  more * static_cast<double>(model.expert_bytes)}};
}

}  // namespace

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json result_json(const RunResult& result, const ModelInfo& model, const RunContext& context,
                 const std::string& method) {
  json sequences = json::array();
  for (const ReturnedSequence& sequence : result.sequences)
    sequences.push_back({{"tokens", sequence.tokens},
                         {"text", sequence.text},
                         {"score", number_or_null(sequence.score)},
                         {"finish", sequence.finish}});
  const PhaseTimes& time = result.time;
  return {{"model",
           {{"path", model.path},
            {"family", model.family},
            {"parameters", model.parameters},
            {"dtype", to_string(model.dtype)},
            {"kv_dtype", to_string(model.kv_dtype)},
            {"device", model.device},
            {"notes", model.notes}}},
          {"eos_token_ids", context.eos_token_ids},
          {"method", method},
          {"settings", context.settings.json()},
          {"lossless", result.lossless},
          {"max_new_tokens", context.max_new_tokens},
          {"seed", context.seed},
          {"prompt_tokens", result.prompt_tokens},
          {"sequences", sequences},
          {"steps", result.steps},
          {"target_forwards", result.target_forwards},
          {"emitted_tokens", result.emitted_tokens},
          {"prefill_tokens", result.prefill_tokens},
          {"tokens_per_forward", result.tokens_per_forward},
          {"tokens_per_second",
           result.tokens_per_second() ? json(*result.tokens_per_second()) : json(nullptr)},
          {"accepted_histogram", result.accepted_histogram},
          {"levels_gained", levels_json(result)},
          {"draft", draft_json(result, model, context)},
          {"experts", experts_json(result, model)},
          {"kv",
           {{"bytes_per_token", result.kv_bytes_per_token},
            {"policy", result.kv_policy},
            {"peak_live_tokens", result.peak_live_tokens},
            {"peak_garbage_tokens", result.peak_garbage_tokens},
            {"peak_held_tokens", result.peak_held_tokens},
            {"peak_reserved_bytes", result.peak_reserved_bytes},
            {"moved_tokens", result.moved_tokens},
            {"mask_prefix_tokens", result.mask_prefix_tokens},
            {"greedy_tokens", result.greedy_tokens},
            {"batch_beam_tokens", result.batch_beam_tokens}}},
          {"memory", whole_memory_json(result, model, context)},
          {"time_ms",
           {{"load", time.load_ms},
            {"prefill", time.prefill_ms},
            {"decode", time.decode_ms},
            {"draft", time.draft_ms},
            {"forward", time.forward_ms},
            {"accept", time.accept_ms},
            {"commit", time.commit_ms},
            {"observe", time.observe_ms}}},
          {"instruction_set", kernels::to_string(kernels::current_variant())},
          {"versions", versions()}};
}

}  // namespace triescope::app
