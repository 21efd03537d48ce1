#include "app/session/breakpoints.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "viz/narration/reason_text.h"
#include "viz/query/row_entropy.h"
#include "viz/text/token_text.h"

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
    {BreakKind::kWhere, "where", "a step where", Needs::kText},
};

const KindRow& row_of(BreakKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// Matches the piece itself, or as the panels show it with visible spaces.
bool holds(std::string_view piece, const std::string& text) {
  return piece.find(text) != std::string_view::npos ||
         viz::token_text(piece).find(text) != std::string::npos;
}

}  // namespace

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
  if (kind == BreakKind::kWhere) point.text = "verdict = \"rejected\" and depth >= 2";
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
  if (breakpoint.kind == BreakKind::kWhere) try {
      StepCondition(breakpoint.text);
    } catch (const Error& error) {
      throw Error(ErrorCode::kInvalidArgument, std::string("breakpoint where: ") + error.what());
    }
}

void BreakWatch::set_breakpoints(std::vector<Breakpoint> breakpoints) {
  watched_.clear();
  for (Breakpoint& point : breakpoints) {
    std::optional<TokenPattern> pattern;
    if (point.kind == BreakKind::kPattern && point.enabled) pattern.emplace(point.text);
    std::optional<StepCondition> where;
    if (point.kind == BreakKind::kWhere && point.enabled) where.emplace(point.text);
    watched_.push_back({std::move(point), std::move(pattern), std::move(where)});
  }
}

template <class Detail, class Test>
BreakHit BreakWatch::check(BreakKind kind, std::int32_t node, Detail detail, Test test) const {
  for (const Watched& watched : watched_)
    if (watched.point.enabled && watched.point.kind == kind && test(watched))
      return {describe(watched.point) + ": " + detail(), node};
  return {};
}

std::optional<std::string_view> BreakWatch::piece(std::int32_t token) const {
  return piece_of_(token);
}

std::string BreakWatch::token_name(std::int32_t token) const {
  const auto bytes = piece(token);
  return bytes ? "'" + viz::token_text(*bytes) + "'" : "token " + std::to_string(token);
}

std::string BreakWatch::node_name(std::int32_t node) const {
  const std::string name = "node " + std::to_string(node);
  const auto bytes = piece(node_of_(node).token);
  return bytes ? name + " '" + viz::token_text(*bytes) + "'" : name;
}

BreakHit BreakWatch::hit_by(const capture::VerdictRow& row) const {
  const auto always = [](const Watched&) { return true; };
  const auto why = [&] {
    const std::string reason =
        viz::reason_text(row, [&](std::int32_t token) { return token_name(token); });
    return node_name(row.node) + (reason.empty() ? "" : ", " + reason);
  };
  if (row.verdict == capture::Verdict::kRejected)
    return check(BreakKind::kRejection, row.node, why, always);
  BreakHit hit;
  if (row.verdict == capture::Verdict::kWithdrawn) return hit;
  if (row.verdict == capture::Verdict::kPruned)
    hit = check(BreakKind::kPrune, row.node, why, always);
  if (row.verdict == capture::Verdict::kFinished)
    hit = check(BreakKind::kFinished, row.node, why, always);
  const std::int32_t token = node_of_(row.node).token;
  if (!hit.empty() || token < 0) return hit;
  hit = check(BreakKind::kToken, row.node, why,
              [&](const Watched& watched) { return watched.point.threshold == token; });
  const auto bytes = piece(token);
  if (!hit.empty() || !bytes) return hit;
  hit = check(BreakKind::kText, row.node, why,
              [&](const Watched& watched) { return holds(*bytes, watched.point.text); });
  if (!hit.empty()) return hit;
  return check(BreakKind::kPattern, row.node, why,
               [&](const Watched& watched) { return watched.pattern->matches(*bytes); });
}

BreakHit BreakWatch::hit_by_entropy(std::span<const capture::CandidateRow> rows) const {
  BreakHit hit;
  for (std::size_t first = 0, end = 0; first < rows.size() && hit.empty(); first = end) {
    while (end < rows.size() && rows[end].node == rows[first].node &&
           rows[end].whose == rows[first].whose)
      ++end;
    // The candidates behind a probe are no question of the text.
    if (rows[first].whose != capture::Whose::kTarget || node_of_(rows[first].node).is_probe)
      continue;
    const double entropy = viz::entropy_of(rows.subspan(first, end - first));
    hit = check(
        BreakKind::kEntropyAbove, rows[first].node,
        [&] {
          char text[32];
          std::snprintf(text, sizeof text, "%.2f nats after ", entropy);
          return text + node_name(rows[first].node);
        },
        [&](const Watched& watched) { return entropy > watched.point.threshold; });
  }
  return hit;
}

BreakHit BreakWatch::hit_in(const PhaseRows& rows) const {
  if (watched_.empty()) return {};
  for (const capture::VerdictRow& row : rows.verdicts)
    if (BreakHit hit = hit_by(row); !hit.empty()) return hit;
  if (BreakHit hit = hit_by_entropy(rows.candidates); !hit.empty()) return hit;
  for (const capture::SlotRow& row : rows.slots) {
    if (row.action != capture::SlotAction::kMove || row.whose != capture::Whose::kTarget) continue;
    BreakHit hit = check(
        BreakKind::kMove, row.node >= 0 ? row.node : -1,
        [&] { return "slot " + std::to_string(row.from_slot) + " to " + std::to_string(row.slot); },
        [](const Watched&) { return true; });
    if (!hit.empty()) return hit;
  }
  for (const capture::MemoryRow& row : rows.memory) {
    if (row.whose != capture::Whose::kTarget) continue;
    BreakHit hit = check(
        BreakKind::kLiveAbove, -1, [&] { return counted(row.live, "live token"); },
        [&](const Watched& watched) { return row.live > watched.point.threshold; });
    if (!hit.empty()) return hit;
  }
  for (const capture::StepRow& row : rows.steps) {
    BreakHit hit;
    if (row.drafted > 0)
      hit = check(
          BreakKind::kAcceptedBelow, -1,
          [&] {
            return "step " + std::to_string(row.step) + " accepted " + std::to_string(row.accepted);
          },
          [&](const Watched& watched) { return row.accepted < watched.point.threshold; });
    if (hit.empty())
      hit = check(
          BreakKind::kStep, -1, [] { return std::string("done"); },
          [&](const Watched& watched) { return row.step == watched.point.threshold; });
    if (!hit.empty()) return hit;
  }
  return {};
}

bool BreakWatch::asks_for_steps() const {
  return std::ranges::any_of(watched_, [](const Watched& one) { return one.where.has_value(); });
}

BreakHit BreakWatch::hit_in(const StepFacts& step) const {
  for (const Watched& watched : watched_) {
    if (!watched.where) continue;
    const std::vector<std::int32_t> nodes = watched.where->matches(step);
    if (nodes.empty()) continue;
    return {describe(watched.point) + ": step " + std::to_string(step.rows.step) + ", " +
                match_text(step, nodes.front()),
            nodes.front()};
  }
  return {};
}

BreakRecorder::BreakRecorder(capture::Recorder& inner, PieceOf piece_of)
    : inner_(inner),
      piece_of_(std::move(piece_of)),
      watch_([this](std::int32_t node) { return facts_of(node); },
             [this](std::int32_t token) { return piece(token); }) {}

BreakHit BreakRecorder::take_hit() { return std::exchange(hit_, {}); }

std::optional<std::string_view> BreakRecorder::piece(std::int32_t token) const {
  if (const auto found = recorded_pieces_.find(token); found != recorded_pieces_.end())
    return found->second;
  if (piece_of_ && token >= 0) return piece_of_(token);
  return std::nullopt;
}

BreakWatch::NodeFacts BreakRecorder::facts_of(std::int32_t node) const {
  const auto row = gathered_.node(node);
  return row ? BreakWatch::NodeFacts{row->token, capture::is_probe(*row)} : BreakWatch::NodeFacts{};
}

void BreakRecorder::write(const capture::RowTables& rows) {
  for (const capture::PieceRow& row : rows.pieces)
    recorded_pieces_.try_emplace(row.token, row.bytes);
  gathered_.add(rows);
  if (hit_.empty())
    hit_ = watch_.hit_in({rows.verdicts, rows.candidates, rows.slots, rows.memory, rows.steps});
  if (hit_.empty() && watch_.asks_for_steps())
    if (const auto step = gathered_.finished([this](std::int32_t token) { return piece(token); }))
      hit_ = watch_.hit_in(*step);
  // This comes last, so that a call that was refused memory took nothing; everything else gives the
  // same again.
  try {
    inner_.write(rows);
  } catch (...) {
    gathered_.undo();
    throw;
  }
}

}  // namespace triescope::app
