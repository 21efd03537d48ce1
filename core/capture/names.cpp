#include <cstddef>
#include <iterator>

#include "core/capture/phase_names.h"
#include "core/capture/records.h"

namespace triescope::capture {

const char* to_string(Phase phase) {
  static constexpr const char* kNames[] = {"draft", "forward", "accept", "commit", "observe"};
  return kNames[static_cast<std::size_t>(phase)];
}

const std::vector<std::string>& phase_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int i = 0; i < kPhaseCount; ++i) all.emplace_back(to_string(static_cast<Phase>(i)));
    return all;
  }();
  return names;
}

std::optional<Phase> phase_from_string(std::string_view name) {
  for (int i = 0; i < kPhaseCount; ++i)
    if (name == to_string(static_cast<Phase>(i))) return static_cast<Phase>(i);
  return std::nullopt;
}

const char* to_string(Whose whose) {
  static constexpr const char* kNames[] = {"target", "draft", "head"};
  return kNames[static_cast<std::size_t>(whose)];
}

const char* to_string(Source source) {
  static constexpr const char* kNames[] = {
      "prompt", "greedy",    "sampled",   "beam",  "n-gram trie", "prompt lookup", "draft model",
      "head",   "datastore", "lookahead", "bonus", "corrected",   "forced"};
  return kNames[static_cast<std::size_t>(source)];
}

const char* to_string(NodeRole role) {
  static constexpr const char* kNames[] = {"candidate", "probe"};
  static_assert(std::size(kNames) == kNodeRoleCount);
  return kNames[static_cast<std::size_t>(role)];
}

const char* to_string(Stage stage) {
  static constexpr const char* kNames[] = {
      "processors", "temperature",    "top_h",      "top_k",    "top_p", "min_p",
      "typical_p",  "epsilon_cutoff", "eta_cutoff", "proposal", "drawn"};
  return kNames[static_cast<std::size_t>(stage)];
}

const char* to_string(Verdict verdict) {
  static constexpr const char* kNames[] = {"none",    "accepted", "rejected", "kept",
                                           "pruned",  "finished", "bonus",    "corrected",
                                           "emitted", "withdrawn"};
  return kNames[static_cast<std::size_t>(verdict)];
}

const char* to_string(Reason reason) {
  static constexpr const char* kNames[] = {"none",
                                           "is_argmax",
                                           "not_argmax",
                                           "draw_is_this",
                                           "draw_is_another",
                                           "below_ratio",
                                           "not_below_ratio",
                                           "below_rest",
                                           "not_below_rest",
                                           "typical",
                                           "not_typical",
                                           "typical_off_path",
                                           "in_top_k",
                                           "not_in_top_k",
                                           "top_k_off_path",
                                           "parent_refused",
                                           "after_end",
                                           "not_reached",
                                           "argmax",
                                           "gumbel_argmax",
                                           "drawn",
                                           "drawn_from_residual",
                                           "drawn_from_rest",
                                           "drawn_from_typical",
                                           "eos",
                                           "max_tokens",
                                           "beam_eos",
                                           "beam_max_tokens",
                                           "better_finished",
                                           "pruned_relative",
                                           "pruned_absolute",
                                           "pruned_local",
                                           "beam_kept",
                                           "beam_kept_of_all",
                                           "none_left_at_max_tokens",
                                           "search_over",
                                           "beam_outdone",
                                           "forced",
                                           "branched",
                                           "no_live_text",
                                           "draft_outdone"};
  static_assert(std::size(kNames) == kReasonCount);
  return kNames[static_cast<std::size_t>(reason)];
}

const char* to_string(SlotAction action) {
  static constexpr const char* kNames[] = {"alloc", "reuse", "garbage", "free", "move"};
  return kNames[static_cast<std::size_t>(action)];
}

}  // namespace triescope::capture
