// A panel's pictures by view, as the data from which a handout's page draws them.
//
//   name, title         of the panel
//   box                 [x, y, width, height] that all its pictures lie in, in tenths of a px, as all
//                       that follows; head: that of the legend where it is a picture of its own
//   elements            [look, x, y, look, x, y, …]: looks are numbers in the page's list of them,
//                       [[kind, colours, …], …], see Element
//   pictures            by view: stretches of `elements` (SharedList); heads: of the legend
//   hits, marks         [[node, x, y, width, height], …], and by view stretches of them
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/capture/capture.h"
#include "viz/handout/element_canvas.h"
#include "viz/handout/theme_pairs.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

// The subject of a picture: a cursor, and the steps to which figures are limited.
struct PaneView {
  capture::Tick cursor = 0;
  StepRange range = {};
  bool operator==(const PaneView&) const = default;
};

// Shared by the panes of a page.
struct PaneContext {
  const capture::Capture* capture = nullptr;
  std::span<const PaneView> views;  // the views that are shown
  TextSizes* sizes = nullptr;
  ColorPairs* colors = nullptr;
  SharedList* looks = nullptr;
  std::set<std::int32_t>* nodes = nullptr;  // receives the nodes that lie in some picture
  std::function<void()> drawn = {};         // called after each picture
};

// Error{kInvalidArgument}: no such panel.
std::string pane_json(const std::string& panel, const PaneContext& context);

}  // namespace triescope::viz
