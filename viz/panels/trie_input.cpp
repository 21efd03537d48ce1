#include "viz/panels/trie_input.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/counted.h"
#include "viz/draw/node_text.h"
#include "viz/panels/zoom_input.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

void explain(const TrieItem& item, std::int32_t merged, const Scene& scene,
             std::vector<std::string>& lines) {
  lines = node_tooltip(scene, item.node);
  if (item.run > 1)
    lines.push_back(counted(item.run, "token") +
                    " without a branch are folded here: double-click to open");
  if (item.hidden_dead > 0)
    lines.push_back("+" + counted(item.hidden_dead, "node") +
                    " on dead branches, not drawn: double-click to open");
  if (item.hidden_other > 0)
    lines.push_back("+" + counted(item.hidden_other, "node") +
                    " folded away: double-click to open");
  if (merged > 0) lines.push_back("and " + counted(merged, "more node") + " on this spot: zoom in");
}

// Fits the whole tree. Before an audience the view follows instead, because the whole tree would be
// too small to read.
void fit(TriePicture& picture, const Scene& scene) {
  scene.steady ? picture.view.follow() : picture.view.fit();
}

// ',' and '.' move the focus to the neighbours in the column.
void step_focus(int direction, const TrieShape& shape, const Scene& scene, Reaction& reaction) {
  for (std::size_t i = 0; i < shape.items().size(); ++i) {
    if (!shape.contains(shape.items()[i], scene.focus.node())) continue;
    const auto column =
        shape.layout().column_items(shape.layout().column(static_cast<std::int32_t>(i)));
    const auto at = std::find(column.begin(), column.end(), static_cast<std::int32_t>(i));
    const auto to = (at - column.begin()) + direction;
    if (to >= 0 && to < static_cast<std::ptrdiff_t>(column.size()))
      reaction.lock = shape.items()[TrieShape::index(column[static_cast<std::size_t>(to)])].node;
    return;
  }
}

}  // namespace

Reaction trie_input(const Input& in, Rect mode_button, const Scene& scene, TriePicture& picture,
                    TrieFoldState& folds) {
  Reaction reaction;
  if (!scene.capture || picture.shape.items().empty()) return reaction;
  if (picture.minimap.input(in, picture.body, picture.view)) {
    if (in.fit) fit(picture, scene);
    reaction.hover = -1;
    reaction.tooltip = {"the whole trie: click or drag to go there; F: all of it"};
    return reaction;
  }
  const Point at{in.mouse.x - picture.body.x, in.mouse.y - picture.body.y};
  const Point middle{picture.body.w / 2, picture.body.h / 2};
  if (const auto factor = static_cast<float>(zoom_of(in)); factor != 1)
    picture.view.zoom_at(in.inside ? at : middle, factor);
  if (in.pan_left) picture.view.move(scene.em * 6, 0);
  if (in.pan_right) picture.view.move(-scene.em * 6, 0);
  if (in.wheel_x != 0) picture.view.move(in.wheel_x * scene.em * 3, 0);
  if (in.dragging) picture.view.move(in.drag_delta.x, in.drag_delta.y);
  if (in.fit) fit(picture, scene);
  if (in.fold) next_mode(folds);
  if (in.previous || in.next) step_focus(in.next ? 1 : -1, picture.shape, scene, reaction);
  if (!in.inside) return reaction;
  reaction.hover = -1;
  if (mode_button.contains(in.mouse)) {
    reaction.tooltip = {
        "auto: large tries leave out branches that died a while ago, and fold "
        "long stretches without branches",
        "all: every dead branch and every stretch · none: nothing is folded"};
    if (in.clicked) next_mode(folds);
    return reaction;
  }
  const TrieChip* chip = nullptr;
  for (auto it = picture.chips.rbegin(); it != picture.chips.rend() && !chip; ++it)
    if (it->area.contains(in.mouse)) chip = &*it;
  if (!chip) {
    if (in.clicked) reaction.lock = -1;
    return reaction;
  }
  const TrieItem& item = picture.shape.items()[static_cast<std::size_t>(chip->item)];
  reaction.hover = item.node;
  explain(item, chip->merged, scene, reaction.tooltip);
  if (in.clicked) reaction.lock = item.node;
  if (in.double_clicked || in.right_clicked) toggle(folds, item, *picture.shape.capture());
  return reaction;
}

void next_mode(TrieFoldState& folds) {
  FoldMode& mode = folds.options.mode;
  mode = mode == FoldMode::kAuto  ? FoldMode::kAll
         : mode == FoldMode::kAll ? FoldMode::kNone
                                  : FoldMode::kAuto;
  ++folds.version;
}

const char* mode_name(FoldMode mode) {
  static constexpr const char* kNames[] = {"auto", "all", "none"};
  return kNames[static_cast<std::size_t>(mode)];
}

void toggle(TrieFoldState& folds, const TrieItem& item, const capture::Capture& capture) {
  if (item.run > 1 || item.hidden_dead > 0) {
    folds.options.opened.insert(item.node);
    for (std::int32_t at = item.last; item.run > 1 && at > item.node;
         at = capture.nodes()[TrieShape::index(at)].parent)
      if (item.hidden_dead > 0) folds.options.opened.insert(at);
  } else if (folds.options.opened.erase(item.node) == 0 &&
             folds.options.closed.erase(item.node) == 0) {
    folds.options.closed.insert(item.node);
  }
  ++folds.version;
}

std::string trie_view_state(const TrieFoldState& folds, const TrieView& view) {
  std::string out =
      std::string("mode=") + mode_name(folds.options.mode) + ";zoom=" + number_text(view.zoom, 3);
  if (view.mode == TrieView::Mode::kFit) out += ";fit=1";
  const auto list = [&](const char* key, const std::unordered_set<std::int32_t>& nodes) {
    std::vector<std::int32_t> sorted(nodes.begin(), nodes.end());
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
      out += (i ? "," : std::string(";") + key + "=") + std::to_string(sorted[i]);
  };
  list("closed", folds.options.closed);
  list("opened", folds.options.opened);
  return out;
}

void set_trie_view_state(const std::string& state, TrieFoldState& folds, TrieView& view) {
  folds.options = {};
  ++folds.version;
  std::istringstream in(state);
  for (std::string field; std::getline(in, field, ';');) {
    const auto equals = field.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = field.substr(0, equals), value = field.substr(equals + 1);
    if (key == "mode")
      folds.options.mode = value == "all"    ? FoldMode::kAll
                           : value == "none" ? FoldMode::kNone
                                             : FoldMode::kAuto;
    if (key == "fit" && value == "1") view.mode = TrieView::Mode::kFit;
    if (key == "zoom") {
      float zoom = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), zoom);
      if (error == std::errc() && zoom >= TrieView::kMinZoom && zoom <= TrieView::kMaxZoom)
        view.zoom = zoom;
    }
    if (key != "closed" && key != "opened") continue;
    std::istringstream numbers(value);
    for (std::int32_t node = 0; numbers >> node; numbers.ignore(1))
      (key == "closed" ? folds.options.closed : folds.options.opened).insert(node);
  }
}

}  // namespace triescope::viz
