// Docking: puts a dragged panel where it drops. It works on the trees of
// pane_layout.h: the window's own, and one for each pane that floats in a window of its own. Pure;
// sizes in px.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/window/workspace/drop_side.h"
#include "app/window/workspace/pane_layout.h"

namespace triescope::app {

// A tree in a window of its own; `area` is in screen coordinates.
struct FloatingPane {
  std::unique_ptr<PaneNode> root;
  viz::Rect area;
  int serial = 0;  // its own while the layout lives
};

// The window's tree and the floating ones. Every panel is in exactly one of them.
struct PaneLayout {
  std::unique_ptr<PaneNode> root;
  std::vector<FloatingPane> floating;
};

// Moves `panel` to `side` of `target`, a pane of this layout. Trees left empty are removed, but the
// window's own keeps its last pane. Does nothing where the panel is there already.
void dock_panel(PaneLayout& layout, const std::string& panel, PaneNode& target, DropSide side);
// Moves `panel` into a window of its own. False: it is the only one in the window, or alone in its
// own already.
bool undock_panel(PaneLayout& layout, const std::string& panel, viz::Rect area);
// Where a key or a menu can move a panel; a drag can put it anywhere.
enum class PaneMove : std::uint8_t { kNextPane, kRight, kBelow };
// Moves `panel` to the tabs of the next pane (the floating ones come last, then the first again),
// or beside or below the other panels of its pane. False: there is no other pane, or the panel is
// alone in its pane.
bool move_panel(PaneLayout& layout, const std::string& panel, PaneMove move);
// Makes the panels of a floating window that is closed tabs of the last pane.
void dock_back(PaneLayout& layout, std::size_t floating);

// Makes `panel` the active tab of the pane that holds it. False: no pane has it.
bool show_panel(PaneLayout& layout, const std::string& panel);

// The panel in front of each pane, and of each split that is shown as one pane, in the order of the
// trees; "" = the first tab.
std::vector<std::string> front_panels(const PaneLayout& layout);
// Brings these panels to the front again where the layout has them in the same places.
void bring_to_front(PaneLayout& layout, const std::vector<std::string>& panels);

nlohmann::json layout_to_json(const PaneLayout& layout);
// nullopt if it is not a layout. Unknown panels are left out, missing ones are added to the last
// pane. Also reads a bare tree of pane_layout.h.
std::optional<PaneLayout> pane_layout_from_json(const nlohmann::json& json,
                                                const std::vector<std::string>& known);

}  // namespace triescope::app
