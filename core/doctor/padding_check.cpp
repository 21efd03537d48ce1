// Drafts that stand for nothing: the padding or the unknown token, accepted; a path drafted twice in
// one step, which wastes rows and counts a chance twice.
#include <array>
#include <map>
#include <set>
#include <utility>

#include "core/doctor/checks.h"

namespace triescope::doctor {
namespace {

using namespace capture;

// By what the model says, and by the names that vocabularies give such tokens.
bool stands_for_nothing(const RunView& run, std::int32_t token) {
  if (run.end_tokens.contains(token)) return false;  // many pad with the end token
  for (const auto* where : {&run.model, &run.settings})
    for (const char* key : {"pad_token_id", "unk_token_id"})
      if (where->integer(key, -1) == token) return true;
  constexpr std::array kNames = {"<pad>", "[PAD]", "<|pad|>", "<|padding|>",
                                 "<unk>", "[UNK]", "<|unk|>", "<|finetune_right_pad_id|>"};
  const std::string_view piece = run.capture.piece(token);
  for (const char* name : kNames)
    if (piece == name) return true;
  return false;
}

}  // namespace

void check_padding(const RunView& run, std::vector<Finding>& out) {
  for (std::int32_t step = 0; step <= run.capture.last_step(); ++step)
    for (const VerdictRow& row : run.capture.verdicts(step))
      if (row.node > 0 && row.verdict == Verdict::kAccepted &&
          stands_for_nothing(run, run.at(row.node).token))
        out.push_back(
            {.code = Code::kPadding,
             .step = step,
             .node = row.node,
             .kind = "a padding or unknown token is accepted",
             .text = run.name(row.node) + " was accepted, but its token stands for nothing",
             .sure = Sure::kLikely});
  std::map<std::pair<std::int32_t, std::int32_t>, std::pair<Tick, std::int32_t>> drafted;
  for (const NodeRow& node : run.capture.nodes()) {
    if (!is_draft(node)) continue;
    const auto [at, is_new] =
        drafted.emplace(std::pair(node.parent, node.token), std::pair(node.tick, node.node));
    if (is_new) continue;
    if (at->second.first == node.tick)
      out.push_back({.code = Code::kPadding,
                     .step = step_of(node.tick),
                     .node = node.node,
                     .kind = "the same path is drafted twice",
                     .text = run.name(node.node) + " is the same draft as node " +
                             std::to_string(at->second.second) + ": the same token below " +
                             run.name(node.parent),
                     .sure = Sure::kCertain});
    at->second = {node.tick, node.node};
  }
}

}  // namespace triescope::doctor
