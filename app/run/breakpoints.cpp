#include "app/run/breakpoints.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "viz/look/reason_text.h"
#include "viz/words/token_text.h"

namespace triescope::app {
namespace {

enum class Needs : std::uint8_t { kNothing, kNumber, kText };

struct KindRow {
  BreakKind kind;
  const char* name;
  const char* text;
  Needs needs;
};
constexpr KindRow kKinds[] = {
    {BreakKind::kRejection, "rejection", "a draft is rejected", Needs::kNothing},
    {BreakKind::kAcceptedBelow, "accepted_below", "accepted drafts <", Needs::kNumber},
    {BreakKind::kPrune, "prune", "a beam is pruned", Needs::kNothing},
    {BreakKind::kFinished, "finished", "a sequence finishes", Needs::kNothing},
    {BreakKind::kMove, "move", "KV is moved (garbage collection)", Needs::kNothing},
    {BreakKind::kLiveAbove, "live_above", "live KV tokens >", Needs::kNumber},
    {BreakKind::kToken, "token", "token id =", Needs::kNumber},
    {BreakKind::kStep, "step", "step =", Needs::kNumber},
    {BreakKind::kText, "text", "a token's text holds", Needs::kText},
    {BreakKind::kPattern, "pattern", "a token's text matches", Needs::kText},
    {BreakKind::kEntropyAbove, "entropy_above", "entropy >", Needs::kNumber},
};

const KindRow& row_of(BreakKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// As it is, or as the panels show it, spaces visible.
bool holds(std::string_view piece, const std::string& text) {
  return piece.find(text) != std::string_view::npos ||
         viz::token_text(piece).find(text) != std::string::npos;
}

}  // namespace

double entropy_of(std::span<const capture::CandidateRow> candidates) {
  double entropy = 0, rest = 1;
  for (const capture::CandidateRow& row : candidates) {
    const double p = std::exp(static_cast<double>(row.logprob));
    entropy -= p * static_cast<double>(row.logprob);
    rest -= p;
  }
  if (rest > 1e-9) entropy -= rest * std::log(rest);
  return entropy;
}

std::string describe(const Breakpoint& breakpoint) {
  std::string text = row_of(breakpoint.kind).text;
  if (needs_threshold(breakpoint.kind)) text += " " + short_number(breakpoint.threshold);
  if (breakpoint.kind == BreakKind::kEntropyAbove) text += " nats";
  if (needs_text(breakpoint.kind)) text += " '" + breakpoint.text + "'";
  return text;
}

std::string break_words(BreakKind kind) { return row_of(kind).text; }

const char* script_name(BreakKind kind) { return row_of(kind).name; }
bool needs_threshold(BreakKind kind) { return row_of(kind).needs == Needs::kNumber; }
bool needs_text(BreakKind kind) { return row_of(kind).needs == Needs::kText; }

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

Breakpoint new_breakpoint(BreakKind kind) {
  Breakpoint point{kind, 1, true};
  if (kind == BreakKind::kEntropyAbove) point.threshold = 3;
  if (kind == BreakKind::kText) point.text = "the";
  if (kind == BreakKind::kPattern) point.text = "^\\s*[A-Z]";
  return point;
}

void check_breakpoint(const Breakpoint& breakpoint) {
  const std::string kind = script_name(breakpoint.kind);
  if (needs_threshold(breakpoint.kind) &&
      (!std::isfinite(breakpoint.threshold) || breakpoint.threshold < 0))
    throw Error(ErrorCode::kInvalidArgument, "breakpoint " + kind +
                                                 ": expected a number from 0, found " +
                                                 short_number(breakpoint.threshold));
  if (breakpoint.kind == BreakKind::kText && breakpoint.text.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "breakpoint text: expected a part of a token's text, found none");
  if (breakpoint.kind == BreakKind::kPattern) TokenPattern(breakpoint.text);
}

void BreakRecorder::set_breakpoints(std::vector<Breakpoint> breakpoints) {
  watched_.clear();
  for (Breakpoint& point : breakpoints) {
    std::optional<TokenPattern> pattern;
    if (point.kind == BreakKind::kPattern && point.enabled) pattern.emplace(point.text);
    watched_.push_back({std::move(point), std::move(pattern)});
  }
}

BreakHit BreakRecorder::take_hit() { return std::exchange(hit_, {}); }

template <class Test>
void BreakRecorder::check(BreakKind kind, const std::string& detail, std::int32_t node, Test test) {
  if (!hit_.empty()) return;
  for (const Watched& watched : watched_) {
    if (!watched.point.enabled || watched.point.kind != kind || !test(watched)) continue;
    hit_ = {describe(watched.point) + ": " + detail, node};
    return;
  }
}

std::optional<std::string_view> BreakRecorder::piece(std::int32_t token) const {
  if (const auto found = recorded_pieces_.find(token); found != recorded_pieces_.end())
    return found->second;
  if (piece_of_ && token >= 0) return piece_of_(token);
  return std::nullopt;
}

std::string BreakRecorder::token_name(std::int32_t token) const {
  const auto bytes = piece(token);
  return bytes ? "'" + viz::token_text(*bytes) + "'" : "token " + std::to_string(token);
}

std::int32_t BreakRecorder::token_of(std::int32_t node) const {
  const auto index = static_cast<std::size_t>(node);
  return node >= 0 && index < token_of_node_.size() ? token_of_node_[index] : -1;
}

std::string BreakRecorder::node_name(std::int32_t node) const {
  const std::string name = "node " + std::to_string(node);
  const auto bytes = piece(token_of(node));
  return bytes ? name + " '" + viz::token_text(*bytes) + "'" : name;
}

void BreakRecorder::check_candidates(std::span<const capture::CandidateRow> rows) {
  for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
    while (end < rows.size() && rows[end].node == rows[first].node &&
           rows[end].whose == rows[first].whose)
      ++end;
    if (rows[first].whose != capture::Whose::kTarget) continue;
    const double entropy = entropy_of(rows.subspan(first, end - first));
    char text[32];
    std::snprintf(text, sizeof text, "%.2f nats after ", entropy);
    check(BreakKind::kEntropyAbove, text + node_name(rows[first].node), rows[first].node,
          [&](const Watched& watched) { return entropy > watched.point.threshold; });
  }
}

void BreakRecorder::write(const capture::RowTables& rows) {
  const auto always = [](const Watched&) { return true; };
  for (const capture::PieceRow& row : rows.pieces)
    recorded_pieces_.try_emplace(row.token, row.bytes);
  for (const capture::NodeRow& row : rows.nodes) {
    if (row.node < 0) continue;
    if (token_of_node_.size() <= static_cast<std::size_t>(row.node))
      token_of_node_.resize(static_cast<std::size_t>(row.node) + 1, -1);
    token_of_node_[static_cast<std::size_t>(row.node)] = row.token;
  }
  for (const capture::VerdictRow& row : rows.verdicts) {
    if (!hit_.empty()) break;
    const std::string reason =
        viz::reason_text(row, [&](std::int32_t token) { return token_name(token); });
    const std::string why = node_name(row.node) + (reason.empty() ? "" : ", " + reason);
    if (row.verdict == capture::Verdict::kRejected) {
      check(BreakKind::kRejection, why, row.node, always);
      continue;
    }
    if (row.verdict == capture::Verdict::kWithdrawn) continue;
    if (row.verdict == capture::Verdict::kPruned) check(BreakKind::kPrune, why, row.node, always);
    if (row.verdict == capture::Verdict::kFinished)
      check(BreakKind::kFinished, why, row.node, always);
    const std::int32_t token = token_of(row.node);
    if (token < 0) continue;
    check(BreakKind::kToken, why, row.node,
          [&](const Watched& watched) { return watched.point.threshold == token; });
    const auto bytes = piece(token);
    if (!bytes) continue;
    check(BreakKind::kText, why, row.node,
          [&](const Watched& watched) { return holds(*bytes, watched.point.text); });
    check(BreakKind::kPattern, why, row.node,
          [&](const Watched& watched) { return watched.pattern->matches(*bytes); });
  }
  check_candidates(rows.candidates);
  for (const capture::SlotRow& row : rows.slots)
    if (row.action == capture::SlotAction::kMove && row.whose == capture::Whose::kTarget)
      check(BreakKind::kMove,
            "slot " + std::to_string(row.from_slot) + " to " + std::to_string(row.slot),
            row.node >= 0 ? row.node : -1, always);
  for (const capture::MemoryRow& row : rows.memory)
    if (row.whose == capture::Whose::kTarget)
      check(BreakKind::kLiveAbove, counted(row.live, "live token"), -1,
            [&](const Watched& watched) { return row.live > watched.point.threshold; });
  for (const capture::StepRow& row : rows.steps) {
    if (row.drafted > 0)
      check(BreakKind::kAcceptedBelow,
            "step " + std::to_string(row.step) + " accepted " + std::to_string(row.accepted), -1,
            [&](const Watched& watched) { return row.accepted < watched.point.threshold; });
    check(BreakKind::kStep, "done", -1,
          [&](const Watched& watched) { return row.step == watched.point.threshold; });
  }
  // Last, so that a call that was refused memory took nothing; all else gives the same again.
  inner_.write(rows);
}

}  // namespace triescope::app
