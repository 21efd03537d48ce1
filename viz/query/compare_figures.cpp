#include "viz/query/compare_figures.h"

#include "viz/query/comparison.h"
#include "viz/query/leaves.h"
#include "viz/query/run_figures.h"
#include "viz/query/step_so_far.h"

namespace triescope::viz {

using capture::make_tick;
using capture::Phase;

std::int64_t text_tokens_at(const capture::Capture& capture, capture::Tick cursor) {
  const auto leaves = leaves_at(capture, cursor);
  return leaves.empty() ? text_tokens_before(capture, cursor)
                        : capture.nodes()[static_cast<std::size_t>(leaves.front().node)].depth;
}

CompareFigures compare_figures(const capture::Capture& capture, capture::Tick cursor) {
  CompareFigures figures;
  const RunFigures run = run_figures(capture, cursor);
  std::int32_t under_way = 0;  // the step after the last finished one
  for (const capture::StepRow& row : capture.steps()) {
    if (!has_finished(row.step, cursor)) break;
    under_way = row.step + 1;
    if (row.step > 0) figures.rows += row.forward_rows;
  }
  // The unfinished step has no figures yet; its forward is drawn as soon as it has run.
  if (under_way > 0 && make_tick(under_way, Phase::kForward) < cursor)
    figures.rows += static_cast<std::int64_t>(capture.inputs(under_way).size());
  figures.tokens = text_tokens_at(capture, cursor);
  figures.steps = run.steps;
  figures.peak_kv = kv_figures(capture, cursor).peak_held;
  figures.decode_us = run.decode_us;
  figures.tokens_per_forward = run.tokens_per_forward;
  figures.tokens_per_second = run.tokens_per_second;
  figures.acceptance = run.acceptance;
  figures.levels_gained = run.levels_gained;
  figures.timed_while_drawing = capture.run().timed_while_drawing;
  return figures;
}

}  // namespace triescope::viz
