#include "app/run/breakpoints.h"
#include "core/base/counted.h"

#include <utility>

#include "viz/look/reason_text.h"
#include "viz/words/token_text.h"

namespace triescope::app {
namespace {

struct KindRow {
  BreakKind kind;
  const char* name;
  const char* text;
  bool threshold;
};
constexpr KindRow kKinds[] = {
    {BreakKind::kRejection, "rejection", "a draft is rejected", false},
    {BreakKind::kAcceptedBelow, "accepted_below", "accepted drafts <", true},
    {BreakKind::kPrune, "prune", "a beam is pruned", false},
    {BreakKind::kFinished, "finished", "a sequence finishes", false},
    {BreakKind::kMove, "move", "KV is moved (garbage collection)", false},
    {BreakKind::kLiveAbove, "live_above", "live KV tokens >", true},
    {BreakKind::kToken, "token", "token id =", true},
    {BreakKind::kStep, "step", "step =", true},
};

const KindRow& row_of(BreakKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

}  // namespace

std::string describe(const Breakpoint& breakpoint) {
  std::string text = row_of(breakpoint.kind).text;
  if (row_of(breakpoint.kind).threshold) text += " " + std::to_string(breakpoint.threshold);
  return text;
}

const char* script_name(BreakKind kind) { return row_of(kind).name; }
bool needs_threshold(BreakKind kind) { return row_of(kind).threshold; }

bool break_kind_from_name(const std::string& name, BreakKind& kind) {
  for (const KindRow& row : kKinds) {
    if (name != row.name) continue;
    kind = row.kind;
    return true;
  }
  return false;
}

std::vector<BreakKind> all_break_kinds() {
  std::vector<BreakKind> kinds;
  for (const KindRow& row : kKinds) kinds.push_back(row.kind);
  return kinds;
}

std::string BreakRecorder::take_hit() { return std::exchange(hit_, {}); }

template <class Test>
void BreakRecorder::check(BreakKind kind, const std::string& detail, Test test) {
  if (!hit_.empty()) return;
  for (const Breakpoint& breakpoint : breakpoints_) {
    if (!breakpoint.enabled || breakpoint.kind != kind || !test(breakpoint.threshold)) continue;
    hit_ = describe(breakpoint) + ": " + detail;
    return;
  }
}

void BreakRecorder::write(const capture::RowTables& rows) {
  inner_.write(rows);
  const auto always = [](std::int64_t) { return true; };
  for (const capture::PieceRow& row : rows.pieces) piece_of_.try_emplace(row.token, row.bytes);
  for (const capture::NodeRow& row : rows.nodes) {
    if (row.node < 0) continue;
    if (token_of_node_.size() <= static_cast<std::size_t>(row.node))
      token_of_node_.resize(static_cast<std::size_t>(row.node) + 1, -1);
    token_of_node_[static_cast<std::size_t>(row.node)] = row.token;
  }
  for (const capture::VerdictRow& row : rows.verdicts) {
    if (!hit_.empty()) break;
    const std::string reason = viz::reason_text(row, [&](std::int32_t token) {
      const auto found = piece_of_.find(token);
      return found == piece_of_.end() ? "token " + std::to_string(token)
                                      : "'" + viz::token_text(found->second) + "'";
    });
    const std::string node =
        "node " + std::to_string(row.node) + (reason.empty() ? "" : ", " + reason);
    if (row.verdict == capture::Verdict::kRejected) {
      check(BreakKind::kRejection, node, always);
      continue;
    }
    if (row.verdict == capture::Verdict::kWithdrawn) continue;
    if (row.verdict == capture::Verdict::kPruned) check(BreakKind::kPrune, node, always);
    if (row.verdict == capture::Verdict::kFinished) check(BreakKind::kFinished, node, always);
    const auto index = static_cast<std::size_t>(row.node);
    if (row.node >= 0 && index < token_of_node_.size())
      check(BreakKind::kToken, node,
            [&](std::int64_t threshold) { return token_of_node_[index] == threshold; });
  }
  for (const capture::SlotRow& row : rows.slots)
    if (row.action == capture::SlotAction::kMove && row.whose == capture::Whose::kTarget)
      check(BreakKind::kMove,
            "slot " + std::to_string(row.from_slot) + " to " + std::to_string(row.slot), always);
  for (const capture::MemoryRow& row : rows.memory)
    if (row.whose == capture::Whose::kTarget)
      check(BreakKind::kLiveAbove, counted(row.live, "live token"),
            [&](std::int64_t threshold) { return row.live > threshold; });
  for (const capture::StepRow& row : rows.steps) {
    if (row.drafted > 0)
      check(BreakKind::kAcceptedBelow,
            "step " + std::to_string(row.step) + " accepted " + std::to_string(row.accepted),
            [&](std::int64_t threshold) { return row.accepted < threshold; });
    check(BreakKind::kStep, "done", [&](std::int64_t threshold) { return row.step == threshold; });
  }
}

}  // namespace triescope::app
