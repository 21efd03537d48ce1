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

void BreakWatch::set_breakpoints(std::vector<Breakpoint> breakpoints) {
  watched_.clear();
  for (Breakpoint& point : breakpoints) {
    std::optional<TokenPattern> pattern;
    if (point.kind == BreakKind::kPattern && point.enabled) pattern.emplace(point.text);
    watched_.push_back({std::move(point), std::move(pattern)});
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
    // What follows a probe is no question of the text.
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
  const auto index = static_cast<std::size_t>(node);
  return node >= 0 && index < nodes_.size() ? nodes_[index] : BreakWatch::NodeFacts{};
}

void BreakRecorder::write(const capture::RowTables& rows) {
  for (const capture::PieceRow& row : rows.pieces)
    recorded_pieces_.try_emplace(row.token, row.bytes);
  for (const capture::NodeRow& row : rows.nodes) {
    if (row.node < 0) continue;
    if (nodes_.size() <= static_cast<std::size_t>(row.node))
      nodes_.resize(static_cast<std::size_t>(row.node) + 1);
    nodes_[static_cast<std::size_t>(row.node)] = {row.token, capture::is_probe(row)};
  }
  if (hit_.empty())
    hit_ = watch_.hit_in({rows.verdicts, rows.candidates, rows.slots, rows.memory, rows.steps});
  // This comes last, so that a call that was refused memory took nothing; everything else gives the
  // same again.
  inner_.write(rows);
}

namespace {

// The rows of a sorted span whose tick, according to `tick_of`, is `tick`.
template <class Row, class TickOf>
std::span<const Row> rows_at(std::span<const Row> rows, capture::Tick tick, TickOf tick_of) {
  const auto first = std::ranges::lower_bound(rows, tick, {}, tick_of);
  const auto end = std::ranges::upper_bound(first, rows.end(), tick, {}, tick_of);
  return {first, end};
}

// The rows that the phase `tick` gave to the recorder.
PhaseRows recorded_rows(const capture::Capture& capture, capture::Tick tick) {
  using capture::Phase;
  const std::int32_t step = capture::step_of(tick);
  // A step's memory is recorded by its commit, its figures by its observe phase.
  return {rows_at(capture.verdicts(step), tick, &capture::VerdictRow::tick),
          rows_at(capture.candidates_of(step), tick, &capture::CandidateRow::tick),
          rows_at(capture.slot_events(step), tick, &capture::SlotRow::tick),
          rows_at(capture.memory(), tick,
                  [](const capture::MemoryRow& row) {
                    return capture::make_tick(row.step, Phase::kCommit);
                  }),
          rows_at(capture.steps(), tick, [](const capture::StepRow& row) {
            return capture::make_tick(row.step, Phase::kObserve);
          })};
}

BreakWatch watch_over(const capture::Capture& capture, const std::vector<Breakpoint>& breakpoints) {
  BreakWatch watch(
      [nodes = capture.nodes()](std::int32_t node) {
        const auto index = static_cast<std::size_t>(node);
        return node >= 0 && index < nodes.size()
                   ? BreakWatch::NodeFacts{nodes[index].token, capture::is_probe(nodes[index])}
                   : BreakWatch::NodeFacts{};
      },
      [&capture](std::int32_t token) -> std::optional<std::string_view> {
        if (token < 0) return std::nullopt;
        return capture.piece(token);
      });
  watch.set_breakpoints(breakpoints);
  return watch;
}

}  // namespace

std::optional<BreakStop> next_match(const capture::Capture& capture,
                                    const std::vector<Breakpoint>& breakpoints,
                                    capture::Tick cursor, capture::Tick end) {
  const BreakWatch watch = watch_over(capture, breakpoints);
  for (capture::Tick tick = std::max<capture::Tick>(cursor, 0);
       tick < std::min(end, capture.end_tick()); ++tick)
    if (BreakHit hit = watch.hit_in(recorded_rows(capture, tick)); !hit.empty())
      return BreakStop{tick + 1, std::move(hit)};
  return std::nullopt;
}

std::optional<BreakStop> previous_match(const capture::Capture& capture,
                                        const std::vector<Breakpoint>& breakpoints,
                                        capture::Tick cursor) {
  const BreakWatch watch = watch_over(capture, breakpoints);
  for (capture::Tick tick = std::min(cursor, capture.end_tick() + 1) - 2; tick >= 0; --tick)
    if (BreakHit hit = watch.hit_in(recorded_rows(capture, tick)); !hit.empty())
      return BreakStop{tick + 1, std::move(hit)};
  return std::nullopt;
}

}  // namespace triescope::app
