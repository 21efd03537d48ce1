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
// In KV tokens.
double value_of(const MemoryRow& row, std::size_t curve, double per_token);
// The same; stacked, garbage stands on top of live.
double curve_value(const MemoryRow& row, std::size_t curve, double per_token, bool stacked);
// Curves that have something to show.
std::array<bool, kCurves> curves_of(std::span<const MemoryRow> rows);
// What the figures are of. A run that has ended needs no KV: what it still held is no figure of the
// method.
enum class Figures : std::uint8_t { kStep, kStepOutsideRange, kEnd, kWholeRun };
// What became of the KV of a run that has ended: a policy that frees nothing (keep), or not in every step
// (compact), leaves it where it is.
std::string end_text(const MemoryRow& row);
// When the figures of `now` are true: "end of step 3".
std::string moment_text(const MemoryRow& now, Figures figures);
// The figures at a cursor: live and garbage as the KV panel counts them there, the others of the newest
// commit before it. `moment`: when that is, "end of step 3", "step 4, after forward".
struct Now {
  MemoryRow row;
  std::string moment;
};
Now now_at(const RowSource& source, const Scene& scene, Figures figures);
// Every row's step with the most slots that were held at once within it, as far as the cursor has seen
// it in an export. Empty where no slots were recorded.
std::vector<std::pair<std::int32_t, std::int32_t>> step_peaks(std::span<const MemoryRow> rows,
                                                              const RowSource& source,
                                                              const Scene& scene);
// "KV of target and draft head together: at most 12.3 MB (step 6)"; "" with one cache.
std::string together_text(const Scene& scene);
// "weights: target 92.1 MB, draft head 14.2 MB", of the files they were read from, or how many parameters where
// the capture does not say their size; "" where it says neither.
std::string weights_text(const Scene& scene);
// What all caches of the run hold: at the end of every row's step, and at the cursor, in bytes over
// `per_token`. Empty with one cache.
struct AllCaches {
  std::vector<std::pair<std::int32_t, double>> steps;
  double now = 0;
};
AllCaches all_caches(std::span<const MemoryRow> rows, const RowSource& source, double per_token,
                     const Scene& scene);
// The other caches on top of what `rows` hold: an area, and the line of all together.
void draw_all_caches(Canvas& canvas, const AllCaches& all, std::span<const MemoryRow> rows,
                     const AxisScale& x, const AxisScale& y, const Scene& scene);
Color all_caches_color(const Scene& scene);
// `row` is the last of a run that has ended, and only its prompt is live still.
bool released(const MemoryRow& row, const RowSource& source, const capture::Capture& capture);
// `rows` without the one of a run that has ended and released its KV: no step of decoding held so little.
std::span<const MemoryRow> before_release(std::span<const MemoryRow> rows, const RowSource& source,
                                          const capture::Capture& capture);
// One sentence: what is held beside batch beam search; "" without beams. `peak`: the slots held at most
// within any step of `rows`, which are what the steps ended with.
std::string ratio_text(std::span<const MemoryRow> rows, const MemoryRow& now,
                       const std::array<bool, kCurves>& has, double per_token, Figures figures,
                       std::int32_t peak);
// The rows to plot: up to the cursor in an export, all that is known on the screen (the cursor is
// a line there), within the range.
std::span<const MemoryRow> rows_of(const RowSource& source, const Scene& scene);
// Those of `rows` whose step had ended before the cursor.
std::span<const MemoryRow> rows_seen(std::span<const MemoryRow> rows, const Scene& scene);
// The newest row that is not after `step`; `rows` must not be empty.
const MemoryRow& at_step(std::span<const MemoryRow> rows, std::int32_t step);
// `wide`: room for bytes on the right; `units`: room for the words under the axis.
void draw_axes(Canvas& canvas, Rect area, Rect plot, const AxisScale& x, const AxisScale& y,
               bool wide, bool units, double per_token, const Scene& scene);
// At most the highest and the lowest of what falls on one px: no peak is lost.
void draw_curve(Canvas& canvas, std::span<const MemoryRow> rows, const AxisScale& x,
                const AxisScale& y, std::size_t curve, double per_token, const Scene& scene,
                bool stacked);
// A thin line through the most that every step held at once, where it is more than what it ended with.
void draw_peaks(Canvas& canvas, std::span<const std::pair<std::int32_t, std::int32_t>> peaks,
                const AxisScale& x, const AxisScale& y, const Scene& scene);
// Opaque and a little too wide: translucent areas side by side would show their seams.
void draw_areas(Canvas& canvas, std::span<const MemoryRow> rows, const AxisScale& x,
                const AxisScale& y, const Scene& scene);

}  // namespace triescope::viz::memory_curves
