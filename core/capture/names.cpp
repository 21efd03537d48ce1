#include "core/capture/records.h"

namespace triescope::capture {

const char* to_string(Phase phase) {
  static constexpr const char* kNames[] = {"draft", "forward", "accept", "commit", "observe"};
  return kNames[static_cast<std::size_t>(phase)];
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

const char* to_string(SlotAction action) {
  static constexpr const char* kNames[] = {"alloc", "reuse", "garbage", "free", "move"};
  return kNames[static_cast<std::size_t>(action)];
}

}  // namespace triescope::capture
