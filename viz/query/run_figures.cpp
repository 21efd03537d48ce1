#include "viz/query/run_figures.h"

#include <algorithm>

#include "viz/query/kv_levels.h"
#include "viz/query/step_so_far.h"

namespace triescope::viz {

using capture::Capture;
using capture::make_tick;
using capture::Phase;
using capture::Tick;

namespace {

std::optional<double> quotient(std::int64_t sum, std::int64_t of) {
  if (of <= 0) return std::nullopt;
  return static_cast<double>(sum) / static_cast<double>(of);
}

// The time of the phases after prefill of steps that are finished, in microseconds.
std::int64_t finished_us(const Capture& capture, Tick cursor, const StepRange& range) {
  std::int64_t us = 0;
  for (const capture::PhaseRow& row : capture.phases()) {
    if (row.tick >= cursor) break;
    const std::int32_t step = capture::step_of(row.tick);
    if (step > 0 && is_within(range, step) && has_finished(step, cursor)) us += row.duration_us;
  }
  return us;
}

void add_times_of(const Capture& capture, Tick cursor, const StepRange& range,
                  RunFigures& figures) {
  for (const capture::PhaseRow& row : capture.phases()) {
    if (row.tick >= cursor) break;
    const std::int32_t step = capture::step_of(row.tick);
    if (!is_within(range, step)) continue;
    if (step == 0) {
      figures.prefill_us += row.duration_us;
      continue;
    }
    figures.decode_us += row.duration_us;
    figures.phase_us[static_cast<std::size_t>(capture::phase_of(row.tick))] += row.duration_us;
  }
}

}  // namespace

RunFigures run_figures(const Capture& capture, Tick cursor, StepRange range) {
  RunFigures figures;
  std::int64_t searched = 0, levels = 0;  // steps with beams after prefill, and what they emitted
  std::int64_t decoding = 0;              // steps after prefill
  for (const capture::StepRow& row : capture.steps()) {
    if (!has_finished(row.step, cursor)) break;
    if (!is_within(range, row.step)) continue;
    ++figures.steps;
    figures.emitted += row.emitted;
    figures.drafted += row.drafted;
    figures.accepted += row.accepted;
    if (row.step == 0) {
      figures.prefill_emitted = row.emitted;
      continue;
    }
    ++decoding;
    searched += row.emitted > 0;
    levels += row.emitted;
    const auto place = static_cast<std::size_t>(std::max(row.accepted, 0));
    if (figures.histogram.size() <= place) figures.histogram.resize(place + 1);
    ++figures.histogram[place];
  }
  add_times_of(capture, cursor, range, figures);
  figures.tokens_per_forward = quotient(figures.emitted, figures.steps);
  figures.accepted_per_step = quotient(figures.accepted, decoding);
  figures.acceptance = quotient(figures.accepted, figures.drafted);
  if (const std::int64_t us = finished_us(capture, cursor, range); us > 0)
    figures.tokens_per_second = 1e6 *
                                static_cast<double>(figures.emitted - figures.prefill_emitted) /
                                static_cast<double>(us);
  if (searched > 0 && capture.run().kind == capture::RunKind::kBeams && !capture.drafters().empty())
    figures.levels_gained = static_cast<double>(levels) / static_cast<double>(searched) - 1;
  return figures;
}

KvFigures kv_figures(const Capture& capture, Tick cursor, StepRange range) {
  KvFigures figures;
  std::int64_t held_at_ends = 0;
  for (const capture::MemoryRow& row : capture.memory()) {
    if (make_tick(row.step, Phase::kCommit) >= cursor) break;
    if (!is_within(range, row.step)) continue;
    figures.peak_live = std::max<std::int64_t>(figures.peak_live, row.live);
    figures.peak_garbage = std::max<std::int64_t>(figures.peak_garbage, row.garbage);
    figures.peak_reserved = std::max<std::int64_t>(figures.peak_reserved, row.reserved);
    figures.greedy = std::max<std::int64_t>(figures.greedy, row.greedy);
    figures.batch_beam = std::max<std::int64_t>(figures.batch_beam, row.batch_beam);
    figures.moved_bytes += row.moved_bytes;
    held_at_ends = std::max<std::int64_t>(held_at_ends, row.live + row.garbage);
  }
  for (const capture::KvLevel& level : capture.kv_levels()) {
    if (level.tick >= cursor) break;
    if (!is_within(range, capture::step_of(level.tick))) continue;
    figures.peak_live = std::max<std::int64_t>(figures.peak_live, level.peak_live);
    figures.peak_garbage = std::max<std::int64_t>(figures.peak_garbage, level.garbage);
  }
  // If slots were not recorded, each step's figures at its end count.
  const auto peak = kv_peak(capture, cursor, capture::Whose::kTarget, range);
  figures.peak_held = peak ? peak->held() : held_at_ends;
  return figures;
}

std::optional<DrafterFigures> drafter_figures(const Capture& capture, Tick cursor,
                                              StepRange range) {
  std::optional<DrafterFigures> last;
  for (const capture::Whose whose : capture.owners()) {
    if (whose == capture::Whose::kTarget) continue;
    DrafterFigures figures{.whose = whose};
    for (const capture::ForwardId& forward : capture.forwards(whose)) {
      if (!is_within(range, forward.step) || make_tick(forward.step, Phase::kDraft) >= cursor)
        continue;
      ++figures.forwards;
      figures.rows += static_cast<std::int64_t>(capture.inputs(forward, whose).size());
    }
    for (const capture::KvLevel& level : capture.kv_levels(whose))
      if (level.tick < cursor && is_within(range, capture::step_of(level.tick)))
        figures.kv_peak = std::max<std::int64_t>(figures.kv_peak, level.peak_live);
    if (figures.forwards > 0) last = figures;
  }
  return last;
}

const capture::SequenceRow* best_sequence(const Capture& capture, Tick cursor) {
  const capture::SequenceRow* best = nullptr;
  for (const capture::SequenceRow& row : capture.sequences())
    if (row.rank == 0 && row.tick < cursor) best = &row;
  return best;
}

std::vector<NamedFigure> named_figures(const Capture& capture, Tick cursor, StepRange range) {
  const RunFigures run = run_figures(capture, cursor, range);
  const KvFigures kv = kv_figures(capture, cursor, range);
  const std::int64_t bytes = capture.run().kv_bytes_per_token;
  std::vector<NamedFigure> figures;
  const auto count = [&](const char* name, std::int64_t value) {
    figures.push_back({name, static_cast<double>(value), /*is_whole=*/true});
  };
  const auto number = [&](const char* name, std::optional<double> value) {
    figures.push_back({name, value});
  };
  const auto time = [&](const char* name, std::int64_t us) {
    figures.push_back({name, static_cast<double>(us) / 1000});
  };
  count("prompt_tokens", static_cast<std::int64_t>(capture.run().prompt_tokens.size()));
  count("steps", run.steps);
  count("target_forwards", run.steps);
  count("emitted_tokens", run.emitted);
  count("prefill_tokens", run.prefill_emitted);
  number("tokens_per_forward", run.tokens_per_forward);
  number("tokens_per_second", run.tokens_per_second);
  number("levels_gained", run.levels_gained);
  count("accepted_drafts", run.accepted);
  number("accepted_per_step", run.accepted_per_step);
  time("prefill_ms", run.prefill_us);
  time("decode_ms", run.decode_us);
  static constexpr const char* kPhaseNames[capture::kPhaseCount] = {
      "draft_ms", "forward_ms", "accept_ms", "commit_ms", "observe_ms"};
  for (std::size_t i = 0; i < capture::kPhaseCount; ++i) time(kPhaseNames[i], run.phase_us[i]);
  count("kv_bytes_per_token", bytes);
  count("kv_peak_live_tokens", kv.peak_live);
  count("kv_peak_garbage_tokens", kv.peak_garbage);
  count("kv_peak_held_tokens", kv.peak_held);
  count("kv_peak_reserved_bytes", kv.peak_reserved * bytes);
  if (bytes > 0) count("kv_moved_tokens", kv.moved_bytes / bytes);
  count("kv_greedy_tokens", kv.greedy);
  count("kv_batch_beam_tokens", kv.batch_beam);
  if (const auto drafter = drafter_figures(capture, cursor, range)) {
    count("draft_forwards", drafter->forwards);
    count("draft_forward_rows", drafter->rows);
    if (drafter->kv_peak > 0) count("draft_kv_peak_tokens", drafter->kv_peak);
  }
  return figures;
}

}  // namespace triescope::viz
