// Texts about rows that are recorded otherwise than the tree asks for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/row_faults.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

// "draft ·the", "·the", "prompt token 3 (·is)", "a slot that nothing was written to".
std::string occupant_text(const Scene& scene, std::int32_t occupant);
// "sees draft ·the (the sibling of its parent)", "does not see ·is (its own ancestor)".
std::string sight_text(const Scene& scene, const capture::InputRow& row,
                       const capture::SightFault& fault);
// "the tree asks for the prompt, its ancestors and itself", with the window where there is one.
std::string asked_sight_text(const Scene& scene, const capture::InputRow& row);
// All of a row's faults, the first `most` of each kind by name, and what the tree asks for.
std::string sights_text(const Scene& scene, const capture::InputRow& row,
                        std::span<const capture::SightFault> faults, std::size_t most = 2);
// "stands at position 12; the tree asks for 11 = prompt tokens + depth − 1"
std::string position_text(const Scene& scene, const capture::InputRow& row, std::int32_t asked);
// "node 3 ·the lay in slot 4; …": what became of KV that a row needs.
std::string slot_text(const Scene& scene, const capture::SlotFault& fault);

// Everything about the newest row of a node before the cursor, a line each; empty: it is as asked.
std::vector<std::string> row_fault_lines(const Scene& scene, std::int32_t node,
                                         capture::Whose whose = capture::Whose::kTarget);
// The same of the rows of all models. Lines about another model than the target name it.
std::vector<std::string> all_fault_lines(const Scene& scene, std::int32_t node);

// The mark of a node at the cursor: the gravest over the rows of all models.
capture::RowMark fault_mark(const Scene& scene, std::int32_t node);
// Whether a node has that mark at the cursor or had it before. A steady scene asks about the whole run.
bool has_fault_mark(const Scene& scene, capture::RowMark mark);
// "▲" or "△"; "" for a row that is as the tree asks.
std::string_view fault_glyph(capture::RowMark mark);

}  // namespace triescope::viz
