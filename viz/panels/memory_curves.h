// The curves of the memory panel: their names, colours, values and what they mean, and the drawing
// of one of them. KV in tokens (slots), by step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/capture/records.h"
#include "viz/canvas/canvas.h"
#include "viz/layouts/axis.h"
#include "viz/look/scene.h"
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
std::array<bool, kCurves> curves_of(const std::vector<MemoryRow>& rows);
// One sentence: what is held beside batch beam search; "" without beams. `outside`: the cursor is
// not in the range that `rows` are limited to.
std::string ratio_text(const std::vector<MemoryRow>& rows, const MemoryRow& now,
                       const std::array<bool, kCurves>& has, double per_token, bool whole_run,
                       bool outside);
// The rows to plot: up to the cursor in an export, all that is known on the screen (the cursor is
// a line there), within the range.
std::vector<MemoryRow> rows_of(const RowSource& source, const Scene& scene);
// The newest row that is not after `step`; `rows` must not be empty.
const MemoryRow& at_step(const std::vector<MemoryRow>& rows, std::int32_t step);
// `wide`: room for bytes on the right; `units`: room for the words under the axis.
void draw_axes(Canvas& canvas, Rect area, Rect plot, const AxisScale& x, const AxisScale& y,
               bool wide, bool units, double per_token, const Scene& scene);
// At most the highest and the lowest of what falls on one px: no peak is lost.
void draw_curve(Canvas& canvas, const std::vector<MemoryRow>& rows, const AxisScale& x,
                const AxisScale& y, std::size_t curve, double per_token, const Scene& scene,
                bool stacked);
// Opaque and a little too wide: translucent areas side by side would show their seams.
void draw_areas(Canvas& canvas, const std::vector<MemoryRow>& rows, const AxisScale& x,
                const AxisScale& y, const Scene& scene);

}  // namespace triescope::viz::memory_curves
