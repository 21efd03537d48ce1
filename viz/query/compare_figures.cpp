#include "viz/query/compare_figures.h"

#include <algorithm>

#include "viz/query/comparison.h"
#include "viz/query/kv_levels.h"
#include "viz/query/leaves.h"
#include "viz/query/step_so_far.h"

namespace triescope::viz {

using capture::make_tick;
using capture::Phase;

CompareFigures compare_figures(const capture::Capture& capture, capture::Tick cursor) {
  CompareFigures figures;
  std::int64_t emitted = 0, prefill_emitted = 0, drafted = 0, accepted = 0;
  std::int64_t searched = 0, levels = 0;  // steps with beams after prefill, and what they emitted
  std::int32_t under_way = 0;             // the step after the last finished one
  for (const capture::StepRow& row : capture.steps()) {
    if (!has_finished(row.step, cursor)) break;
    ++figures.steps;
    under_way = row.step + 1;
    if (row.step > 0) figures.rows += row.forward_rows;
    emitted += row.emitted;
    if (row.step == 0) prefill_emitted = row.emitted;
    searched += row.step > 0 && row.emitted > 0;
    if (row.step > 0) levels += row.emitted;
    drafted += row.drafted;
    accepted += row.accepted;
  }
  // The unfinished step has no figures yet; its forward is drawn as soon as it has run.
  if (under_way > 0 && make_tick(under_way, Phase::kForward) < cursor)
    figures.rows += static_cast<std::int64_t>(capture.inputs(under_way).size());
  const auto leaves = leaves_at(capture, cursor);
  figures.tokens = leaves.empty()
                       ? text_tokens_before(capture, cursor)
                       : capture.nodes()[static_cast<std::size_t>(leaves.front().node)].depth;
  if (const auto peak = kv_peak(capture, cursor)) {
    figures.peak_kv = peak->held();
  } else {
    // If slots were not recorded, each step's figures at its end count.
    for (const capture::MemoryRow& row : capture.memory()) {
      if (make_tick(row.step, Phase::kCommit) >= cursor) break;
      figures.peak_kv = std::max<std::int64_t>(figures.peak_kv, row.live + row.garbage);
    }
  }
  figures.decode_us = decoding_us_before(capture, cursor);
  const std::int64_t whole_us = decoding_us_before(capture, make_tick(under_way, Phase::kDraft));
  if (figures.steps > 0)
    figures.tokens_per_forward = static_cast<double>(emitted) / static_cast<double>(figures.steps);
  if (whole_us > 0)
    figures.tokens_per_second =
        1e6 * static_cast<double>(emitted - prefill_emitted) / static_cast<double>(whole_us);
  if (drafted > 0)
    figures.acceptance = static_cast<double>(accepted) / static_cast<double>(drafted);
  if (searched > 0 && capture.run().kind == capture::RunKind::kBeams && !capture.drafters().empty())
    figures.levels_gained = static_cast<double>(levels) / static_cast<double>(searched) - 1;
  figures.timed_while_drawing = capture.run().timed_while_drawing;
  return figures;
}

}  // namespace triescope::viz
