// The pictures of a page: its panels at its views, with the colours and shapes that they share, and what is
// said of each node that lies in one of them. Reads the capture alone; not thread-safe.
#pragma once

#include <set>
#include <span>
#include <string>

#include "viz/handout/pane_pictures.h"

namespace triescope::viz {

class PagePictures {
 public:
  // Draws them all. `context`: the capture, the views and what else it names that is not of the page
  // itself. Error{kInvalidArgument}: no such panel.
  PagePictures(std::span<const std::string> panels, PaneContext context);

  // Those that something is said of: add what the page's words name.
  std::set<std::int32_t>& nodes() { return nodes_; }
  // Fields of the page's data: colors, looks, nodes, panes.
  std::string json() const;

 private:
  const capture::Capture& capture_;
  TextSizes sizes_;
  ColorPairs colors_;
  SharedList looks_;
  std::set<std::int32_t> nodes_;
  std::string panes_;
};

}  // namespace triescope::viz
