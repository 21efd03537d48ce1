#include "app/window/workspace/pane_docking.h"

#include <algorithm>
#include <cmath>

namespace triescope::app {
namespace {

constexpr int kMaxTreeDepth = 8;        // deepest tree that is read
constexpr float kSmallestWindow = 120;  // px; a file's value is not trusted

PaneNode* leaf_with(PaneNode& node, const std::string& panel) {
  if (!node.is_leaf()) {
    PaneNode* const found = leaf_with(*node.first, panel);
    return found ? found : leaf_with(*node.second, panel);
  }
  return std::find(node.panels.begin(), node.panels.end(), panel) == node.panels.end() ? nullptr
                                                                                       : &node;
}

PaneNode* leaf_with(PaneLayout& layout, const std::string& panel) {
  if (PaneNode* const found = leaf_with(*layout.root, panel)) return found;
  for (FloatingPane& pane : layout.floating)
    if (PaneNode* const found = leaf_with(*pane.root, panel)) return found;
  return nullptr;
}

PaneNode& last_leaf(PaneNode& node) { return node.is_leaf() ? node : last_leaf(*node.second); }

// The leaf of a pane where a new tab goes; the pane may be a split that is shown as one.
PaneNode& leaf_of_pane(PaneNode& pane) {
  PaneNode* const shown = leaf_with(pane, pane.active);
  return shown ? *shown : last_leaf(pane);
}

std::size_t count(const PaneNode& node) {
  return node.is_leaf() ? node.panels.size() : count(*node.first) + count(*node.second);
}

void take(PaneNode& leaf, const std::string& panel) {
  std::erase(leaf.panels, panel);
  if (leaf.active == panel) leaf.active = leaf.panels.empty() ? "" : leaf.panels.front();
}

// Returns the tree without its empty panes; nullptr: nothing is left.
std::unique_ptr<PaneNode> pruned(std::unique_ptr<PaneNode> node) {
  if (node->is_leaf()) return node->panels.empty() ? nullptr : std::move(node);
  node->first = pruned(std::move(node->first));
  node->second = pruned(std::move(node->second));
  if (node->first && node->second) return node;
  return node->first ? std::move(node->first) : std::move(node->second);
}

void prune(PaneLayout& layout) {
  layout.root = pruned(std::move(layout.root));
  for (FloatingPane& pane : layout.floating) pane.root = pruned(std::move(pane.root));
  std::erase_if(layout.floating, [](const FloatingPane& pane) { return !pane.root; });
  if (layout.root) return;
  // The window is never empty, so the last floating tree moves there.
  layout.root = std::move(layout.floating.back().root);
  layout.floating.pop_back();
}

void add_floating(PaneLayout& layout, std::unique_ptr<PaneNode> root, viz::Rect area) {
  int serial = 1;
  for (const FloatingPane& pane : layout.floating) serial = std::max(serial, pane.serial + 1);
  layout.floating.push_back({std::move(root), area, serial});
}

void put(PaneNode& target, const std::string& panel, DropSide side) {
  if (side == DropSide::kTabs) {
    PaneNode& leaf = leaf_of_pane(target);
    leaf.panels.push_back(panel);
    leaf.active = target.active = panel;
    return;
  }
  auto rest = std::make_unique<PaneNode>(std::move(target));
  auto added = make_leaf({panel});
  const bool before = side == DropSide::kLeft || side == DropSide::kAbove;
  target = PaneNode{};
  target.side_by_side = side == DropSide::kLeft || side == DropSide::kRight;
  target.first = before ? std::move(added) : std::move(rest);
  target.second = before ? std::move(rest) : std::move(added);
  target.active = panel;
}

viz::Rect area_from_json(const nlohmann::json& json) {
  const auto number = [&](const char* name, float low, float fallback) {
    const float value = json.value(name, fallback);
    return std::isfinite(value) ? std::clamp(value, low, 1e5f) : fallback;
  };
  return {number("x", -1e5f, 100), number("y", -1e5f, 100), number("w", kSmallestWindow, 600),
          number("h", kSmallestWindow, 400)};
}

}  // namespace

void dock_panel(PaneLayout& layout, const std::string& panel, PaneNode& target, DropSide side) {
  PaneNode* const from = leaf_with(layout, panel);
  if (!from) return;
  const bool within = leaf_with(target, panel) != nullptr;
  if (within && (side == DropSide::kTabs || count(target) == 1)) return;
  // The panel is taken out first and pruning comes last: pruning moves nodes, and `target` must
  // stay where it is.
  take(*from, panel);
  put(target, panel, side);
  prune(layout);
}

bool undock_panel(PaneLayout& layout, const std::string& panel, viz::Rect area) {
  PaneNode* const from = leaf_with(layout, panel);
  if (!from) return false;
  if (count(*layout.root) == 1 && leaf_with(*layout.root, panel)) return false;
  for (const FloatingPane& pane : layout.floating)
    if (count(*pane.root) == 1 && leaf_with(*pane.root, panel)) return false;
  take(*from, panel);
  add_floating(layout, make_leaf({panel}), area);
  prune(layout);
  return true;
}

bool move_panel(PaneLayout& layout, const std::string& panel, PaneMove move) {
  std::vector<PaneNode*> leaves;
  const auto collect = [&](const auto& self, PaneNode& node) -> void {
    if (node.is_leaf()) return leaves.push_back(&node);
    self(self, *node.first);
    self(self, *node.second);
  };
  collect(collect, *layout.root);
  for (FloatingPane& pane : layout.floating) collect(collect, *pane.root);
  const auto own = std::ranges::find(leaves, leaf_with(layout, panel));
  if (own == leaves.end()) return false;
  if (move == PaneMove::kNextPane) {
    if (leaves.size() == 1) return false;
    PaneNode* const next = own + 1 == leaves.end() ? leaves.front() : own[1];
    dock_panel(layout, panel, *next, DropSide::kTabs);
    return true;
  }
  if ((*own)->panels.size() == 1) return false;
  dock_panel(layout, panel, **own, move == PaneMove::kRight ? DropSide::kRight : DropSide::kBelow);
  return true;
}

void dock_back(PaneLayout& layout, std::size_t floating) {
  if (floating >= layout.floating.size()) return;
  std::vector<std::string> panels;
  const auto collect = [&](const auto& self, const PaneNode& node) -> void {
    if (node.is_leaf()) {
      panels.insert(panels.end(), node.panels.begin(), node.panels.end());
    } else {
      self(self, *node.first);
      self(self, *node.second);
    }
  };
  collect(collect, *layout.floating[floating].root);
  layout.floating.erase(layout.floating.begin() + static_cast<std::ptrdiff_t>(floating));
  // A timeline alone is a strip and leaves no room for a picture.
  PaneNode* home = &last_leaf(*layout.root);
  if (home->panels == std::vector<std::string>{"timeline"} && !layout.root->is_leaf())
    home = &last_leaf(*layout.root->first);
  for (const std::string& panel : panels) put(*home, panel, DropSide::kTabs);
}

bool show_panel(PaneLayout& layout, const std::string& panel) {
  if (show_panel(*layout.root, panel)) return true;
  return std::any_of(layout.floating.begin(), layout.floating.end(),
                     [&](FloatingPane& pane) { return show_panel(*pane.root, panel); });
}

std::vector<std::string> front_panels(const PaneLayout& layout) {
  std::vector<std::string> panels;
  const auto collect = [&](const auto& self, const PaneNode& node) -> void {
    panels.push_back(node.active);
    if (node.is_leaf()) return;
    self(self, *node.first);
    self(self, *node.second);
  };
  collect(collect, *layout.root);
  for (const FloatingPane& pane : layout.floating) collect(collect, *pane.root);
  return panels;
}

void bring_to_front(PaneLayout& layout, const std::vector<std::string>& panels) {
  auto next = panels.begin();
  const auto bring = [&](const auto& self, PaneNode& node) -> void {
    if (next == panels.end()) return;
    if (const std::string& panel = *next++; leaf_with(node, panel)) node.active = panel;
    if (node.is_leaf()) return;
    self(self, *node.first);
    self(self, *node.second);
  };
  bring(bring, *layout.root);
  for (FloatingPane& pane : layout.floating) bring(bring, *pane.root);
}

nlohmann::json layout_to_json(const PaneLayout& layout) {
  nlohmann::json floating = nlohmann::json::array();
  for (const FloatingPane& pane : layout.floating)
    floating.push_back({{"panes", layout_to_json(*pane.root)},
                        {"x", pane.area.x},
                        {"y", pane.area.y},
                        {"w", pane.area.w},
                        {"h", pane.area.h}});
  return {{"panes", layout_to_json(*layout.root)}, {"floating", floating}};
}

std::optional<PaneLayout> pane_layout_from_json(const nlohmann::json& json,
                                                const std::vector<std::string>& known) try {
  if (!json.is_object()) return std::nullopt;
  PaneLayout layout;
  std::vector<std::string> left = known;
  if (json.contains("floating"))
    for (const auto& entry : json.at("floating")) {
      // A tree takes in the known panels that it lacks, so each is read with only its own panels as
      // the known ones.
      std::vector<std::string> own;
      const auto collect = [&](const auto& self, const nlohmann::json& node, int depth) -> void {
        if (depth > kMaxTreeDepth) return;  // a deeper tree is not a layout
        if (node.contains("panels"))
          for (const auto& name : node.at("panels")) own.push_back(name.get<std::string>());
        for (const char* side : {"first", "second"})
          if (node.contains(side)) self(self, node.at(side), depth + 1);
      };
      collect(collect, entry.at("panes"), 0);
      std::erase_if(own, [&](const std::string& name) {
        return std::find(left.begin(), left.end(), name) == left.end();
      });
      auto root = layout_from_json(entry.at("panes"), own);
      if (!root) continue;
      std::erase_if(left, [&](const std::string& name) { return leaf_with(*root, name); });
      add_floating(layout, std::move(root), area_from_json(entry));
    }
  layout.root = layout_from_json(json.contains("panes") ? json.at("panes") : json, left);
  if (!layout.root) return std::nullopt;
  prune(layout);
  return layout;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

}  // namespace triescope::app
