#include "viz/panels/trie_fold_state.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_set>
#include <vector>

#include "viz/text/number_text.h"

namespace triescope::viz {

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
