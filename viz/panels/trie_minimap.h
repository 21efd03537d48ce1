// TrieMinimap: the whole token tree in a corner of the trie panel while a part of it is out of sight,
// and a corner is free of nodes.
// What it draws is found again only when the tree or the box changes; a frame costs its spots.
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
  // `body`: where the tree is drawn; `view`: as it was placed there; `nodes`: where nodes lie, with
  // what is written beside them.
  void draw(Canvas& canvas, Rect body, const TrieShape& shape, const TrieView& view,
            std::span<const Rect> nodes, const Scene& scene);
  void hide() { map_.box = {}; }
  bool contains(Point mouse) const { return map_.shown() && map_.box.contains(mouse); }
  // A click or a drag that began on it moves the view. True: the mouse is the map's.
  bool input(const Input& in, Rect body, TrieView& view);

 private:
  struct Spot {
    Rect area;  // from the top left of the box
    Color color;
  };
  void find_spots(const TrieShape& shape, const Scene& scene);

  Minimap map_;
  bool held_ = false, was_dragging_ = false;
  // What the spots were found for.
  std::uint64_t version_ = 0;
  Point size_;
  ThemeName theme_ = ThemeName::kDark;
  std::vector<Spot> spots_;
};

}  // namespace triescope::viz
