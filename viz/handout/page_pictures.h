// The pictures of a page: its panels at its views, with the colours and shapes that they share, and
// a line about each node that lies in one of them. Reads only the capture; not thread-safe.
#pragma once

#include <set>
#include <span>
#include <string>

#include "viz/handout/pane_pictures.h"

namespace triescope::viz {

class PagePictures {
 public:
  // Draws all pictures. `context`: the capture, the views, and what else it names outside of the
  // page itself. Error{kInvalidArgument}: no such panel.
  PagePictures(std::span<const std::string> panels, PaneContext context);

  // The nodes that get a line: add those that the page's words name.
  std::set<std::int32_t>& nodes() { return nodes_; }
  // The fields of the page's data: colors, looks, nodes, panes.
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
