#include <cstddef>
#include <iterator>

#include "core/capture/code_names.h"
#include "core/capture/phase_names.h"

namespace triescope::capture {

template <>
Names code_names<Phase>() {
  static constexpr const char* kNames[] = {"draft", "forward", "accept", "commit", "observe"};
  static_assert(std::size(kNames) == kPhaseCount);
  return kNames;
}

template <>
Names code_names<Whose>() {
  static constexpr const char* kNames[] = {"target", "draft", "head"};
  static_assert(std::size(kNames) == kWhoseCount);
  return kNames;
}

template <>
Names code_names<RunKind>() {
  static constexpr const char* kNames[] = {"text", "drafts", "beams"};
  return kNames;
}

template <>
Names code_names<RunStatus>() {
  static constexpr const char* kNames[] = {"running", "done", "stopped", "failed"};
  return kNames;
}

template <>
Names code_names<DrafterKind>() {
  static constexpr const char* kNames[] = {"model", "head", "text", "other"};
  return kNames;
}

template <>
Names code_names<Source>() {
  static constexpr const char* kNames[] = {"prompt", "greedy", "sampled",   "beam",
                                           "draft",  "bonus",  "corrected", "forced"};
  return kNames;
}

template <>
Names code_names<NodeRole>() {
  static constexpr const char* kNames[] = {"candidate", "probe"};
  static_assert(std::size(kNames) == kNodeRoleCount);
  return kNames;
}

template <>
Names code_names<Stage>() {
  static constexpr const char* kNames[] = {
      "processors", "temperature",    "top_h",      "top_k",    "top_p", "min_p",
      "typical_p",  "epsilon_cutoff", "eta_cutoff", "proposal", "drawn"};
  static_assert(std::size(kNames) == kStageCount);
  return kNames;
}

template <>
Names code_names<Verdict>() {
  static constexpr const char* kNames[] = {"none",    "accepted", "rejected", "kept",
                                           "pruned",  "finished", "bonus",    "corrected",
                                           "emitted", "withdrawn"};
  return kNames;
}

template <>
Names code_names<SlotAction>() {
  static constexpr const char* kNames[] = {"alloc", "reuse", "garbage", "free", "move"};
  return kNames;
}

template <>
Names code_names<Level>() {
  static constexpr const char* kNames[] = {"off", "steps", "tree", "full"};
  return kNames;
}

Names log_level_names() {
  static constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
  return kNames;
}

namespace {

template <class Code>
const char* name_of(Code code) {
  return code_names<Code>()[static_cast<std::size_t>(code)];
}

}  // namespace

const char* to_string(Phase phase) { return name_of(phase); }
const char* to_string(Level level) { return name_of(level); }
const char* to_string(Whose whose) { return name_of(whose); }
const char* to_string(RunKind kind) { return name_of(kind); }
const char* to_string(DrafterKind kind) { return name_of(kind); }
const char* to_string(Source source) { return name_of(source); }
const char* to_string(NodeRole role) { return name_of(role); }
const char* to_string(Stage stage) { return name_of(stage); }
const char* to_string(Verdict verdict) { return name_of(verdict); }
const char* to_string(SlotAction action) { return name_of(action); }

const std::vector<std::string>& phase_names() {
  static const std::vector<std::string> names(code_names<Phase>().begin(),
                                              code_names<Phase>().end());
  return names;
}

std::optional<Phase> phase_from_string(std::string_view name) {
  return code_from_name<Phase>(name);
}

}  // namespace triescope::capture
