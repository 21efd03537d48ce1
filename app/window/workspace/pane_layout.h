// Pane layout: a binary tree of splits whose leaves hold panels as tabs. Where a split would leave
// a pane smaller than the minimum, its two sides are shown as one pane with all their tabs, so that
// every window size works. Pure geometry, no ImGui; sizes in px.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "viz/canvas/canvas.h"

namespace triescope::app {

struct PaneNode {
  // A split has two children, side by side or one above the other; `first` takes `ratio` of the
  // length.
  std::unique_ptr<PaneNode> first, second;
  bool side_by_side = true;
  float ratio = 0.5f;
  // A leaf has panels, in tab order.
  std::vector<std::string> panels;
  // The panel shown, of a leaf or of a split that is shown as one pane.
  std::string active;

  bool is_leaf() const { return !first; }
};

std::unique_ptr<PaneNode> make_leaf(std::vector<std::string> panels);
std::unique_ptr<PaneNode> make_split(bool side_by_side, float ratio,
                                     std::unique_ptr<PaneNode> first,
                                     std::unique_ptr<PaneNode> second);

// One of preset_names(), with every panel in it. Error{kNotFound}: lists them.
std::unique_ptr<PaneNode> preset_layout(const std::string& name);
const std::vector<std::string>& preset_names();

struct PlacedPane {
  PaneNode* node = nullptr;         // leaf, or a split shown as one pane
  std::vector<std::string> panels;  // its tabs
  viz::Rect area;
};
struct PlacedSplitter {
  PaneNode* node = nullptr;
  viz::Rect area;    // where it can be grabbed
  viz::Rect parent;  // the area that `ratio` divides
};
struct PlacedLayout {
  std::vector<PlacedPane> panes;
  std::vector<PlacedSplitter> splitters;
};
// The least size of a pane, in px; a timeline alone needs less height.
struct Minimum {
  float width = 0, height = 0, strip_height = 0;
};
PlacedLayout place(PaneNode& root, viz::Rect area, const Minimum& minimum, float splitter_px);

// Makes `panel` the active tab of the pane that holds it. False: no pane has it.
bool show_panel(PaneNode& root, const std::string& panel);

nlohmann::json layout_to_json(const PaneNode& root);
// nullptr if it is not a layout. Unknown panels are left out; missing ones are added to the last
// leaf in the order of `known`.
std::unique_ptr<PaneNode> layout_from_json(const nlohmann::json& json,
                                           const std::vector<std::string>& known);

}  // namespace triescope::app
