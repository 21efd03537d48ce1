// TrieMinimap: the whole token tree in a corner of the trie panel, while part of it is out of sight
// and a corner is free of nodes. Its spots are computed only when the tree or the box changes; a
// frame costs only their drawing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/layouts/minimap.h"
#include "viz/layouts/trie_view.h"
#include "viz/panels/trie_shape.h"

namespace triescope::viz {

class TrieMinimap {
 public:
  // `body` is where the tree is drawn, `view` how it was placed there, `nodes` where nodes and
  // their captions lie.
  void draw(Canvas& canvas, Rect body, const TrieShape& shape, const TrieView& view,
            std::span<const Rect> nodes, const Scene& scene);
  void hide() { map_.box = {}; }
  bool contains(Point mouse) const { return map_.shown() && map_.box.contains(mouse); }
  // Moves the view by a click or a drag that began on the map. True: the mouse is the map's.
  bool input(const Input& in, Rect body, TrieView& view);

 private:
  struct Spot {
    Rect area;  // relative to the box's top left
    Color color;
  };
  void find_spots(const TrieShape& shape, const Scene& scene);

  Minimap map_;
  bool held_ = false, was_dragging_ = false;
  // The spots were computed for these.
  std::uint64_t version_ = 0;
  Point size_;
  ThemeName theme_ = ThemeName::kDark;
  std::vector<Spot> spots_;
};

}  // namespace triescope::viz
