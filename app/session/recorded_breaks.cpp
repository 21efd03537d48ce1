// Breakpoints over a capture: where a recorded run stops.
#include <algorithm>
#include <utility>

#include "app/session/breakpoints.h"

namespace triescope::app {
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

BreakHit hit_at(const BreakWatch& watch, const capture::Capture& capture, capture::Tick tick) {
  if (BreakHit hit = watch.hit_in(recorded_rows(capture, tick)); !hit.empty()) return hit;
  if (!watch.asks_for_steps() || capture::phase_of(tick) != capture::Phase::kObserve) return {};
  return watch.hit_in(facts_of_step(capture, capture::step_of(tick)));
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
    if (BreakHit hit = hit_at(watch, capture, tick); !hit.empty())
      return BreakStop{tick + 1, std::move(hit)};
  return std::nullopt;
}

std::optional<BreakStop> previous_match(const capture::Capture& capture,
                                        const std::vector<Breakpoint>& breakpoints,
                                        capture::Tick cursor) {
  const BreakWatch watch = watch_over(capture, breakpoints);
  for (capture::Tick tick = std::min(cursor, capture.end_tick() + 1) - 2; tick >= 0; --tick)
    if (BreakHit hit = hit_at(watch, capture, tick); !hit.empty())
      return BreakStop{tick + 1, std::move(hit)};
  return std::nullopt;
}

}  // namespace triescope::app
