#include "viz/handout/page_pictures.h"

#include "viz/draw/node_text.h"
#include "viz/handout/page_data.h"

namespace triescope::viz {
namespace {

// The line about a node in focus.
std::string node_line(const capture::Capture& capture, std::int32_t node) {
  Scene scene;
  scene.capture = &capture;
  scene.cursor = capture.end_tick();
  if (node == 0) return "the prompt";
  const std::string where = "position " + std::to_string(node_position(scene, node));
  return node_text(scene, node) + "  ·  " +
         (node < 0 ? "prompt token " + std::to_string(-2 - node) : "node " + std::to_string(node)) +
         "  ·  " + where;
}

}  // namespace

PagePictures::PagePictures(std::span<const std::string> panels, PaneContext context)
    : capture_(*context.capture) {
  context.sizes = &sizes_;
  context.colors = &colors_;
  context.looks = &looks_;
  context.nodes = &nodes_;
  for (const std::string& panel : panels)
    panes_ += (panes_.empty() ? "" : ",") + pane_json(panel, context);
}

std::string PagePictures::json() const {
  std::string lines;
  for (const std::int32_t node : nodes_)
    lines += (lines.empty() ? "\"" : ",\"") + std::to_string(node) +
             "\":" + script_string(node_line(capture_, node));
  return "\"colors\":" + colors_.json() + ",\"looks\":" + looks_.json() + ",\"nodes\":{" + lines +
         "},\"panes\":[" + panes_ + "]";
}

}  // namespace triescope::viz
