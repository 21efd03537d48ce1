// The trie panel's mouse and keys, tooltips and view state.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "core/base/counted.h"
#include "viz/draw.h"
#include "viz/panels/trie_panel.h"

namespace triescope::viz {

Reaction TriePanel::input(const Input& in, Rect, const Scene& scene) {
  Reaction reaction;
  if (!scene.capture || shape_.items().empty()) return reaction;
  const Point at{in.mouse.x - body_.x, in.mouse.y - body_.y};
  const Point middle{body_.w / 2, body_.h / 2};
  if (in.inside && in.wheel != 0) view_.zoom_at(at, std::pow(1.15f, in.wheel));
  if (in.zoom_in) view_.zoom_at(in.inside ? at : middle, 1.25f);
  if (in.zoom_out) view_.zoom_at(in.inside ? at : middle, 0.8f);
  if (in.pan_left) view_.move(scene.em * 6, 0);
  if (in.pan_right) view_.move(-scene.em * 6, 0);
  if (in.wheel_x != 0) view_.move(in.wheel_x * scene.em * 3, 0);
  if (in.dragging) view_.move(in.drag_delta.x, in.drag_delta.y);
  if (in.fit) view_.fit();
  if (in.previous || in.next) step_focus(in.next ? 1 : -1, scene, reaction);
  if (!in.inside) return reaction;
  reaction.hover = -1;
  if (mode_button_.contains(in.mouse)) {
    reaction.tooltip = {
        "auto: large tries leave out branches that died a while ago, and fold "
        "long stretches without branches",
        "all: every dead branch and every stretch · none: nothing is folded"};
    if (in.clicked) {
      folds_.mode = folds_.mode == FoldMode::kAuto  ? FoldMode::kAll
                    : folds_.mode == FoldMode::kAll ? FoldMode::kNone
                                                    : FoldMode::kAuto;
      ++fold_version_;
    }
    return reaction;
  }
  const Chip* chip = nullptr;
  for (auto it = chips_.rbegin(); it != chips_.rend() && !chip; ++it)
    if (it->area.contains(in.mouse)) chip = &*it;
  if (!chip) {
    if (in.clicked) reaction.lock = -1;
    return reaction;
  }
  const TrieItem& item = shape_.items()[static_cast<std::size_t>(chip->item)];
  reaction.hover = item.node;
  explain(item, chip->merged, scene, reaction.tooltip);
  if (in.clicked) reaction.lock = item.node;
  if (in.double_clicked || in.right_clicked) toggle(item);
  return reaction;
}

void TriePanel::explain(const TrieItem& item, std::int32_t merged, const Scene& scene,
                        std::vector<std::string>& lines) const {
  lines = node_tooltip(scene, item.node);
  if (item.run > 1)
    lines.push_back(std::to_string(item.run) +
                    " tokens without a branch are folded here: double-click to open");
  if (item.hidden_dead > 0)
    lines.push_back("+" + counted(item.hidden_dead, "node") +
                    " on dead branches, not drawn: " + "double-click to open");
  if (item.hidden_other > 0)
    lines.push_back("+" + counted(item.hidden_other, "node") +
                    " folded away: double-click to open");
  if (merged > 0) lines.push_back("and " + counted(merged, "more node") + " on this spot: zoom in");
}

void TriePanel::toggle(const TrieItem& item) {
  if (item.run > 1 || item.hidden_dead > 0) {
    folds_.opened.insert(item.node);
    for (std::int32_t at = item.last; item.run > 1 && at > item.node;
         at = shape_.capture()->nodes()[index(at)].parent)
      if (item.hidden_dead > 0) folds_.opened.insert(at);
  } else if (folds_.opened.erase(item.node) == 0 && folds_.closed.erase(item.node) == 0) {
    folds_.closed.insert(item.node);
  }
  ++fold_version_;
}

// ',' and '.': the neighbours in the column.
void TriePanel::step_focus(int direction, const Scene& scene, Reaction& reaction) const {
  for (std::size_t i = 0; i < shape_.items().size(); ++i) {
    if (!shape_.contains(shape_.items()[i], scene.focus.node())) continue;
    const auto column =
        shape_.layout().column_items(shape_.layout().column(static_cast<std::int32_t>(i)));
    const auto at = std::find(column.begin(), column.end(), static_cast<std::int32_t>(i));
    const auto to = (at - column.begin()) + direction;
    if (to >= 0 && to < static_cast<std::ptrdiff_t>(column.size()))
      reaction.lock = shape_.items()[index(column[static_cast<std::size_t>(to)])].node;
    return;
  }
}

// "mode=auto;zoom=1;closed=3,7;opened=12"
std::string TriePanel::view_state() const {
  static constexpr const char* kModes[] = {"auto", "all", "none"};
  std::string out = std::string("mode=") + kModes[static_cast<std::size_t>(folds_.mode)] +
                    ";zoom=" + number_text(view_.zoom, 3);
  const auto list = [&](const char* key, const std::unordered_set<std::int32_t>& nodes) {
    std::vector<std::int32_t> sorted(nodes.begin(), nodes.end());
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
      out += (i ? "," : std::string(";") + key + "=") + std::to_string(sorted[i]);
  };
  list("closed", folds_.closed);
  list("opened", folds_.opened);
  return out;
}

void TriePanel::set_view_state(const std::string& state) {
  folds_ = {};
  ++fold_version_;
  std::istringstream in(state);
  for (std::string field; std::getline(in, field, ';');) {
    const auto equals = field.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = field.substr(0, equals), value = field.substr(equals + 1);
    if (key == "mode")
      folds_.mode = value == "all"    ? FoldMode::kAll
                    : value == "none" ? FoldMode::kNone
                                      : FoldMode::kAuto;
    if (key == "zoom") {
      float zoom = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), zoom);
      if (error == std::errc() && zoom >= TrieView::kMinZoom && zoom <= TrieView::kMaxZoom)
        view_.zoom = zoom;
    }
    if (key != "closed" && key != "opened") continue;
    std::istringstream numbers(value);
    for (std::int32_t node = 0; numbers >> node; numbers.ignore(1))
      (key == "closed" ? folds_.closed : folds_.opened).insert(node);
  }
}

}  // namespace triescope::viz
