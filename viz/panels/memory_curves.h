// The curves of the memory panel: their names, colours, values and what they mean, and the drawing
// of one of them. KV in tokens (slots), by step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/capture/records.h"
#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/layouts/axis.h"
#include "viz/panels/row_source.h"

namespace triescope::viz::memory_curves {

using capture::MemoryRow;

constexpr std::size_t kCurves = 6;
constexpr std::array<const char*, kCurves> kNames = {"live",   "garbage",    "reserved",
                                                     "greedy", "batch beam", "CUDA allocator"};

Color color_of(std::size_t curve, const Scene& s);
LineStyle line_of(std::size_t curve);
std::string meaning(std::size_t curve);
// The value in KV tokens.
double value_of(const MemoryRow& row, std::size_t curve, double per_token);
// The same, where stacked curves have garbage on top of live.
double curve_value(const MemoryRow& row, std::size_t curve, double per_token, bool stacked);
// The curves that have something to show.
std::array<bool, kCurves> curves_of(std::span<const MemoryRow> rows);
// The moment that the figures are of. A run that has ended needs no KV, so what it still holds is
// no figure of the method.
enum class Figures : std::uint8_t { kStep, kStepOutsideRange, kEnd, kWholeRun };
// "KV released", or "KV left as garbage" if the policy frees nothing (keep) or not in every step (compact).
std::string end_text(const MemoryRow& row);
// The moment at which the figures of `now` hold: "end of step 3".
std::string moment_text(const MemoryRow& now, Figures figures);
// The figures at a cursor. Live and garbage are the KV panel's counts there, the others come from
// the newest commit before it. `moment` names the time: "end of step 3", "step 4, after forward".
struct Now {
  MemoryRow row;
  std::string moment;
};
Now now_at(const RowSource& source, const Scene& scene, Figures figures);
// The most slots held at once within each row's step. An export counts only what the cursor has seen. Empty
// without recorded slots.
std::vector<std::pair<std::int32_t, std::int32_t>> step_peaks(std::span<const MemoryRow> rows,
                                                              const RowSource& source,
                                                              const Scene& scene);
// The KV of all caches of the run, at the end of every row's step and at the cursor, in bytes over
// `per_token`. Empty with one cache.
struct AllCaches {
  std::vector<std::pair<std::int32_t, double>> steps;
  double now = 0;
};
AllCaches all_caches(std::span<const MemoryRow> rows, const RowSource& source, double per_token,
                     const Scene& scene);
// Draws the other caches as an area on top of `rows`, with a line for the sum of all.
void draw_all_caches(Canvas& canvas, const AllCaches& all, std::span<const MemoryRow> rows,
                     const AxisScale& x, const AxisScale& y, const Scene& scene);
Color all_caches_color(const Scene& scene);
// True if `row` is the last of a run that has ended, and only its prompt is still live.
bool released(const MemoryRow& row, const RowSource& source, const capture::Capture& capture);
// `rows` without the last one where a run has ended and released its KV: no step of decoding held
// so little.
std::span<const MemoryRow> before_release(std::span<const MemoryRow> rows, const RowSource& source,
                                          const capture::Capture& capture);
// One sentence that compares the KV with that of batch beam search; "" without beams. `rows` hold
// the values at the steps' ends, `peak` the most slots held within any of these steps.
std::string ratio_text(std::span<const MemoryRow> rows, const MemoryRow& now,
                       const std::array<bool, kCurves>& has, double per_token, Figures figures,
                       std::int32_t peak);
// The rows to plot, within the range. An export has those up to the cursor; the screen has all that are known,
// with the cursor as a line.
std::span<const MemoryRow> rows_of(const RowSource& source, const Scene& scene);
// The rows whose steps had ended before the cursor.
std::span<const MemoryRow> rows_seen(std::span<const MemoryRow> rows, const Scene& scene);
// The newest row that is not after `step`; `rows` must not be empty.
const MemoryRow& at_step(std::span<const MemoryRow> rows, std::int32_t step);
// `wide`: there is room for bytes on the right. `units`: there is room for the words under the
// axis.
void draw_axes(Canvas& canvas, Rect area, Rect plot, const AxisScale& x, const AxisScale& y,
               bool wide, bool units, double per_token, const Scene& scene);
// Draws at most the highest and the lowest of the points on one px, so that no peak is lost.
void draw_curve(Canvas& canvas, std::span<const MemoryRow> rows, const AxisScale& x,
                const AxisScale& y, std::size_t curve, double per_token, const Scene& scene,
                bool stacked);
// Draws a thin line through the most slots held at once in each step, where that is more than at
// its end.
void draw_peaks(Canvas& canvas, std::span<const std::pair<std::int32_t, std::int32_t>> peaks,
                const AxisScale& x, const AxisScale& y, const Scene& scene);
// Draws opaque areas that are a little too wide: translucent ones side by side would show their
// seams.
void draw_areas(Canvas& canvas, std::span<const MemoryRow> rows, const AxisScale& x,
                const AxisScale& y, const Scene& scene);

}  // namespace triescope::viz::memory_curves
