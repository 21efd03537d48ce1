// Panels that are dragged: where a drop would put one, and putting it there. Over the trees of
// pane_layout.h: the window's own, and one for every pane that floats in a window of its own. Pure;
// sizes in px.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/window/workspace/pane_layout.h"

namespace triescope::app {

// A tree in a window of its own; `area` is on the screen.
struct FloatingPane {
  std::unique_ptr<PaneNode> root;
  viz::Rect area;
  int serial = 0;  // its own as long as the layout lives
};

// The window's tree and the floating ones. Every panel is in one of them, once.
struct PaneLayout {
  std::unique_ptr<PaneNode> root;
  std::vector<FloatingPane> floating;
};

enum class DropSide : std::uint8_t { kTabs, kLeft, kRight, kAbove, kBelow };
// In the outer quarter of a pane a drop takes that side of it, elsewhere it becomes a tab.
DropSide drop_side(viz::Rect pane, viz::Point at);
// The part of the pane that the drop would fill.
viz::Rect drop_area(viz::Rect pane, DropSide side);

// Moves `panel` from where it is to `side` of `target`, a pane of this layout. Trees that are left
// empty go; the window's own never is: the last pane there stays. Nothing happens where it is there
// already.
void dock_panel(PaneLayout& layout, const std::string& panel, PaneNode& target, DropSide side);
// Takes `panel` out into a window of its own. False: it is the only one in the window, or alone in
// its own already.
bool undock_panel(PaneLayout& layout, const std::string& panel, viz::Rect area);
// Where a key or a menu moves a panel, which a drag can put anywhere.
enum class PaneMove : std::uint8_t { kNextPane, kRight, kBelow };
// Moves `panel` to the tabs of the pane after its own, the floating ones last and then the first again; or
// beside or below the other panels of its pane. False: there is no other pane; it is alone in its pane.
bool move_panel(PaneLayout& layout, const std::string& panel, PaneMove move);
// A window is closed: its panels become tabs of the last pane.
void dock_back(PaneLayout& layout, std::size_t floating);

// The pane whose tabs hold `panel`, made active there; false: no pane has it.
bool show_panel(PaneLayout& layout, const std::string& panel);

// The panel in front of each pane, and of each split where it is shown as one pane, "" = the first, in
// the order of the trees.
std::vector<std::string> front_panels(const PaneLayout& layout);
// Brings them to the front again, as far as the layout has them in the same places.
void bring_to_front(PaneLayout& layout, const std::vector<std::string>& panels);

nlohmann::json layout_to_json(const PaneLayout& layout);
// nullopt if it is not a layout. Unknown panels are left out, missing ones are added to the last
// pane. Also reads the tree of pane_layout.h alone.
std::optional<PaneLayout> pane_layout_from_json(const nlohmann::json& json,
                                                const std::vector<std::string>& known);

}  // namespace triescope::app
