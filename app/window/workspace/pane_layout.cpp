#include "app/window/workspace/pane_layout.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "viz/panels/panel.h"

namespace triescope::app {
namespace {

constexpr int kMaxSplitDepth = 8;
constexpr const char* kRest = "…";  // in a preset's leaf: the panels that no leaf names

// Adds the panels of `known` that the layout does not name, in this order: in place of kRest, or to
// the last leaf.
void add_rest(PaneNode& root, const std::vector<std::string>& known) {
  std::vector<std::string> named;
  PaneNode* rest = nullptr;
  PaneNode* last = nullptr;
  const auto look = [&](const auto& self, PaneNode& node) -> void {
    if (!node.is_leaf()) {
      self(self, *node.first);
      self(self, *node.second);
      return;
    }
    last = &node;
    if (std::erase(node.panels, kRest) > 0) rest = &node;
    named.insert(named.end(), node.panels.begin(), node.panels.end());
  };
  look(look, root);
  if (!rest) rest = last;
  for (const std::string& name : known)
    if (std::ranges::find(named, name) == named.end()) rest->panels.push_back(name);
}

void collect_panels(const PaneNode& node, std::vector<std::string>& out) {
  if (node.is_leaf()) {
    out.insert(out.end(), node.panels.begin(), node.panels.end());
    return;
  }
  collect_panels(*node.first, out);
  collect_panels(*node.second, out);
}

// The least length of `node`: a timeline alone needs less height than a picture.
float smallest(const PaneNode& node, bool width, const Minimum& minimum) {
  if (width) return minimum.width;
  const bool strip = node.is_leaf() && node.panels.size() == 1 && node.panels[0] == "timeline";
  return strip ? minimum.strip_height : minimum.height;
}

void place_into(PaneNode& node, viz::Rect area, const Minimum& minimum, float splitter,
                PlacedLayout& out) {
  if (!node.is_leaf()) {
    const bool beside = node.side_by_side;
    const float room = (beside ? area.w : area.h) - splitter;
    const float least_first = smallest(*node.first, beside, minimum);
    const float least_second = smallest(*node.second, beside, minimum);
    if (room >= least_first + least_second) {
      const float first =
          std::floor(std::clamp(room * node.ratio, least_first, room - least_second));
      viz::Rect a = area, b = area, grip = area;
      if (beside) {
        a.w = first;
        grip = {a.right(), area.y, splitter, area.h};
        b = {grip.right(), area.y, area.right() - grip.right(), area.h};
      } else {
        a.h = first;
        grip = {area.x, a.bottom(), area.w, splitter};
        b = {area.x, grip.bottom(), area.w, area.bottom() - grip.bottom()};
      }
      place_into(*node.first, a, minimum, splitter, out);
      place_into(*node.second, b, minimum, splitter, out);
      out.splitters.push_back({&node, grip, area});
      return;
    }
  }
  PlacedPane pane{&node, {}, area};
  collect_panels(node, pane.panels);
  if (pane.panels.empty()) return;
  if (std::find(pane.panels.begin(), pane.panels.end(), node.active) == pane.panels.end())
    node.active = pane.panels.front();
  out.panes.push_back(std::move(pane));
}

std::unique_ptr<PaneNode> parse(const nlohmann::json& json, const std::vector<std::string>& known,
                                std::vector<std::string>& seen, int depth) {
  if (!json.is_object() || depth > kMaxSplitDepth) return nullptr;
  if (json.contains("panels")) {
    auto leaf = std::make_unique<PaneNode>();
    if (!json["panels"].is_array()) return nullptr;
    for (const auto& entry : json["panels"]) {
      if (!entry.is_string()) continue;
      const std::string name = entry.get<std::string>();
      const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
      if (!is_known || std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
      seen.push_back(name);
      leaf->panels.push_back(name);
    }
    leaf->active = json.value("active", "");
    return leaf;
  }
  if (!json.contains("first") || !json.contains("second")) return nullptr;
  auto first = parse(json["first"], known, seen, depth + 1);
  auto second = parse(json["second"], known, seen, depth + 1);
  if (!first || !second) return nullptr;
  const float ratio = json.value("ratio", 0.5f);
  auto node = make_split(json.value("side_by_side", true), std::clamp(ratio, 0.05f, 0.95f),
                         std::move(first), std::move(second));
  node->active = json.value("active", "");
  return node;
}

}  // namespace

std::unique_ptr<PaneNode> make_leaf(std::vector<std::string> panels) {
  auto node = std::make_unique<PaneNode>();
  node->panels = std::move(panels);
  if (!node->panels.empty()) node->active = node->panels.front();
  return node;
}

std::unique_ptr<PaneNode> make_split(bool side_by_side, float ratio,
                                     std::unique_ptr<PaneNode> first,
                                     std::unique_ptr<PaneNode> second) {
  auto node = std::make_unique<PaneNode>();
  node->side_by_side = side_by_side;
  node->ratio = ratio;
  node->first = std::move(first);
  node->second = std::move(second);
  return node;
}

const std::vector<std::string>& preset_names() {
  static const std::vector<std::string> names = {"debug", "lecture", "memory", "compare", "learn"};
  return names;
}

namespace {

// A preset places the panels that its purpose needs.
std::unique_ptr<PaneNode> preset(const std::string& name) {
  constexpr bool kBeside = true, kAbove = false;
  if (name == "debug") {
    auto top =
        make_split(kBeside, 0.62f, make_leaf({"trie", "mask", "positions"}),
                   make_split(kAbove, 0.55f, make_leaf({"text", "candidates", "verdict", "drafts"}),
                              make_leaf({"inspector", "summary", "narration", "log", kRest})));
    auto middle = make_split(kBeside, 0.5f, make_leaf({"memory"}), make_leaf({"kv"}));
    return make_split(kAbove, 0.83f, make_split(kAbove, 0.64f, std::move(top), std::move(middle)),
                      make_leaf({"timeline"}));
  }
  if (name == "lecture") {
    auto top = make_split(
        kBeside, 0.66f,
        make_split(kAbove, 0.6f, make_leaf({"trie", kRest}), make_leaf({"narration"})),
        make_split(kAbove, 0.5f, make_leaf({"mask"}), make_leaf({"text", "candidates"})));
    return make_split(kAbove, 0.84f, std::move(top), make_leaf({"timeline"}));
  }
  if (name == "memory") {
    auto left = make_split(kAbove, 0.62f, make_leaf({"memory", "trie"}), make_leaf({"kv"}));
    auto right = make_split(kAbove, 0.55f,
                            make_leaf({"mask", "positions", "verdict", "drafts", "candidates"}),
                            make_leaf({"inspector", "summary", "text", "narration", kRest}));
    return make_split(kAbove, 0.84f, make_split(kBeside, 0.64f, std::move(left), std::move(right)),
                      make_leaf({"timeline"}));
  }
  if (name == "compare") {
    // Every pane holds the panel of both runs, so it takes the whole width.
    auto panes = make_split(kAbove, 0.55f, make_leaf({"trie", "mask", "positions", "kv"}),
                            make_leaf({"text", "narration", kRest}));
    return make_split(kAbove, 0.82f, std::move(panes), make_leaf({"timeline"}));
  }
  if (name == "learn") {
    // The right side explains this token: its competitors, and the words for it, stand beside the
    // tree.
    auto why = make_split(kAbove, 0.56f, make_leaf({"verdict", "candidates", "drafts"}),
                          make_leaf({"narration", "inspector", "summary", kRest}));
    auto top =
        make_split(kBeside, 0.57f, make_leaf({"trie", "mask", "positions", "kv"}), std::move(why));
    auto below = make_split(kBeside, 0.57f, make_leaf({"text", "memory"}), make_leaf({"timeline"}));
    return make_split(kAbove, 0.76f, std::move(top), std::move(below));
  }
  std::string names;
  for (const std::string& known : preset_names()) names += (names.empty() ? "" : ", ") + known;
  throw Error(ErrorCode::kNotFound, "layout '" + name + "' is not one of: " + names);
}

}  // namespace

std::unique_ptr<PaneNode> preset_layout(const std::string& name) {
  auto root = preset(name);
  add_rest(*root, viz::panel_names());
  return root;
}

PlacedLayout place(PaneNode& root, viz::Rect area, const Minimum& minimum, float splitter_px) {
  PlacedLayout layout;
  place_into(root, area, minimum, splitter_px, layout);
  return layout;
}

bool show_panel(PaneNode& root, const std::string& panel) {
  if (root.is_leaf()) {
    if (std::find(root.panels.begin(), root.panels.end(), panel) == root.panels.end()) return false;
    root.active = panel;
    return true;
  }
  if (!show_panel(*root.first, panel) && !show_panel(*root.second, panel)) return false;
  root.active = panel;  // also where this split is shown as one pane
  return true;
}

nlohmann::json layout_to_json(const PaneNode& root) {
  if (root.is_leaf()) return {{"panels", root.panels}, {"active", root.active}};
  return {{"first", layout_to_json(*root.first)},
          {"second", layout_to_json(*root.second)},
          {"side_by_side", root.side_by_side},
          {"ratio", root.ratio},
          {"active", root.active}};
}

std::unique_ptr<PaneNode> layout_from_json(const nlohmann::json& json,
                                           const std::vector<std::string>& known) try {
  std::vector<std::string> seen;
  auto root = parse(json, known, seen, 0);
  if (!root || seen.empty()) return nullptr;
  add_rest(*root, known);
  return root;
} catch (const nlohmann::json::exception&) {
  return nullptr;  // a value of the wrong type: not a layout of ours
}

}  // namespace triescope::app
