// MemoryHead: what the memory panel says above its plot about one run at its cursor: the moment, the legend
// with its figures, and sentences.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viz/draw/drawing.h"
#include "viz/panels/memory_curves.h"
#include "viz/panels/whole_memory.h"
#include "viz/query/kv_levels.h"

namespace triescope::viz::memory_curves {

struct MemoryHead {
  MemoryRow now;
  std::array<bool, kCurves> has = {};  // the curves that have something to show
  std::optional<KvPeak> peak;          // of what the cursor has seen, within the range
  AllCaches all;
  std::string moment;                // "end of step 3:"
  std::vector<LegendEntry> entries;  // first those of `curves`, then the peak's if there is one
  std::vector<std::size_t> curves;
  std::vector<std::string> lines;
  std::optional<WholeMemory> whole;  // told by the last line
};

// `rows`: those to plot, at least one. `hidden`: the curves that are switched off.
MemoryHead memory_head(const RowSource& source, std::span<const MemoryRow> rows,
                       const std::array<bool, kCurves>& hidden, const Scene& scene);
// The height in which the head has room at the top of `area`. Its legend ends before `right`, in px.
float head_height(Canvas& canvas, const MemoryHead& head, Rect area, float right,
                  const Scene& scene);
// Draws it. `boxes` gets the legend's entries. Returns where the line about the whole memory stands; an
// empty area if there is none.
Rect draw_memory_head(Canvas& canvas, const MemoryHead& head, Rect area, float right,
                      std::vector<Rect>& boxes, const Scene& scene);

}  // namespace triescope::viz::memory_curves
