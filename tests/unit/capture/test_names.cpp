// The names that exports, tooltips and programs know the codes by.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/phase_names.h"

namespace triescope::test {
namespace {

using namespace triescope::capture;

template <class Code>
std::vector<std::string> names(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.emplace_back(to_string(static_cast<Code>(i)));
  return all;
}

TEST_CASE("names: a phase is found by its name, and by nothing else") {
  CHECK(phase_names() ==
        std::vector<std::string>{"draft", "forward", "accept", "commit", "observe"});
  CHECK(phase_from_string("draft") == Phase::kDraft);
  CHECK(phase_from_string("observe") == Phase::kObserve);
  for (int i = 0; i < kPhaseCount; ++i)
    CHECK(phase_from_string(phase_names()[static_cast<std::size_t>(i)]) == static_cast<Phase>(i));
  CHECK_FALSE(phase_from_string("Draft"));
  CHECK_FALSE(phase_from_string("draft "));
  CHECK_FALSE(phase_from_string(""));
}

TEST_CASE("names: every code has its own, in the order of the codes") {
  using Names = std::vector<std::string>;
  CHECK(names<Phase>(kPhaseCount) == Names{"draft", "forward", "accept", "commit", "observe"});
  CHECK(names<Whose>(kWhoseCount) == Names{"target", "draft", "head"});
  CHECK(names<Source>(8) ==
        Names{"prompt", "greedy", "sampled", "beam", "draft", "bonus", "corrected", "forced"});
  CHECK(names<NodeRole>(kNodeRoleCount) == Names{"candidate", "probe"});
  CHECK(names<RunKind>(3) == Names{"text", "drafts", "beams"});
  CHECK(names<DrafterKind>(4) == Names{"model", "head", "text", "other"});
  CHECK(names<Stage>(kStageCount) == Names{"processors", "temperature", "top_h", "top_k", "top_p",
                                           "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff",
                                           "proposal", "drawn"});
  CHECK(names<Verdict>(10) == Names{"none", "accepted", "rejected", "kept", "pruned", "finished",
                                    "bonus", "corrected", "emitted", "withdrawn"});
  CHECK(names<SlotAction>(5) == Names{"alloc", "reuse", "garbage", "free", "move"});
  CHECK(names<NodeState>(10) == Names{"absent", "pending", "live", "accepted", "rejected", "pruned",
                                      "finished", "bonus", "corrected", "withdrawn"});
  CHECK(names<Reason>(kReasonCount) == Names{"none",
                                             "is_argmax",
                                             "not_argmax",
                                             "draw_is_this",
                                             "draw_is_another",
                                             "below_ratio",
                                             "not_below_ratio",
                                             "block_reaches",
                                             "block_goes_on",
                                             "block_falls_short",
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
                                             "drawn_from_block",
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
                                             "draft_outdone"});
}

}  // namespace
}  // namespace triescope::test
