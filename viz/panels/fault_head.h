// FaultHead: a panel's line about what is recorded otherwise than the tree asks for: how many of it in this
// step, and in which steps. A click goes on to the next such step. Nothing is drawn of a run without any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/drawing.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

class FaultHead {
 public:
  // Draws it at the top of `area`; returns the height used. `count`: in the shown step, each a `noun`; `steps`:
  // those of the run that have such.
  float draw(Canvas& canvas, Rect area, std::size_t count, const std::string& noun,
             std::span<const std::int32_t> steps, const Scene& scene);
  // True: the mouse is over it, and nothing else of the panel.
  bool input(const Input& in, std::span<const std::int32_t> steps, const Scene& scene,
             Reaction& reaction) const;

 private:
  Rect box_;
};

// "3 cells not as the tree asks; such in 4 steps, first at step 3".
std::string fault_head_text(std::size_t count, const std::string& noun,
                            std::span<const std::int32_t> steps);

// Legend entries of the marks ▲ and △.
LegendEntry recorded_fault_entry(const std::string& label, const Scene& scene);
LegendEntry missing_fault_entry(const std::string& label, const Scene& scene);
// Adds the entries of the marks of nodes (fault_mark()): those that occur.
void add_node_fault_entries(std::vector<LegendEntry>& legend, bool is_recorded, bool is_missing,
                            const Scene& scene);

}  // namespace triescope::viz
