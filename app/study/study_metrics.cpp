#include "app/study/study_store.h"

namespace triescope::app {
namespace {

constexpr StudyMetric kMetrics[] = {
    {"tokens_per_forward", "/tokens_per_forward", false, "emitted tokens by forward, with prefill"},
    {"tokens_per_second", "/tokens_per_second", true, "tokens a second after prefill"},
    {"emitted_tokens", "/emitted_tokens", false, "tokens of the text, those of prefill included"},
    {"prefill_tokens", "/prefill_tokens", false, "of these from prefill"},
    {"steps", "/steps", false, "steps, prefill included"},
    {"target_forwards", "/target_forwards", false, "forwards of the target that decode"},
    {"levels_gained", "/levels_gained/a_step", false,
     "of beams with drafts: levels of the search that a step gained by them"},
    {"lossless", "/lossless", false, "the text, or its distribution, is plain decoding's"},
    {"score", "/sequences/0/score", false, "of the best text, after the length penalty"},
    {"finish", "/sequences/0/finish", false, "how it ended: eos, length, stopped"},
    {"text", "/sequences/0/text", false, "the best text"},
    {"kv_policy", "/kv/policy", false, "KV policy"},
    {"kv_bytes_per_token", "/kv/bytes_per_token", false, "bytes of KV a token"},
    {"kv_peak_live_tokens", "/kv/peak_live_tokens", false, "most slots with live tokens"},
    {"kv_peak_garbage_tokens", "/kv/peak_garbage_tokens", false, "most slots with dead tokens"},
    {"kv_peak_held_tokens", "/kv/peak_held_tokens", false, "most slots with tokens"},
    {"kv_peak_reserved_bytes", "/kv/peak_reserved_bytes", false, "most bytes reserved for KV"},
    {"kv_moved_tokens", "/kv/moved_tokens", false, "tokens moved between slots"},
    {"kv_greedy_tokens", "/kv/greedy_tokens", false, "what greedy decoding would have held"},
    {"kv_batch_beam_tokens", "/kv/batch_beam_tokens", false, "what batch beam search would"},
    {"kv_mask_prefix_tokens", "/kv/mask_prefix_tokens", false, "slots that SPACE's masks see"},
    {"draft_parameters", "/draft/parameters", false, "parameters of what drafts"},
    {"draft_forwards", "/draft/forwards", false, "its forwards"},
    {"draft_forward_rows", "/draft/forward_rows", false, "rows of these"},
    {"draft_kv_bytes_per_token", "/draft/kv_bytes_per_token", false, "bytes of its KV a token"},
    {"draft_kv_peak_tokens", "/draft/kv_peak_tokens", false, "most tokens that its KV held"},
    {"load_ms", "/time_ms/load", true, "loading; 0 if the models were loaded already"},
    {"prefill_ms", "/time_ms/prefill", true, "prefill, that is, time to the first token"},
    {"decode_ms", "/time_ms/decode", true, "the steps after prefill"},
    {"draft_ms", "/time_ms/draft", true, "phase draft of these"},
    {"forward_ms", "/time_ms/forward", true, "phase forward"},
    {"accept_ms", "/time_ms/accept", true, "phase accept"},
    {"commit_ms", "/time_ms/commit", true, "phase commit"},
    {"observe_ms", "/time_ms/observe", true, "phase observe"},
};

}  // namespace

std::span<const StudyMetric> study_metrics() { return kMetrics; }

std::string study_meaning(const std::string& column) {
  for (const StudyMetric& metric : kMetrics)
    if (column == metric.name) return metric.meaning;
  return "";
}

}  // namespace triescope::app
