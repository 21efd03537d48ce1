// TriePicture: the token tree as it was drawn last: what (TrieShape), where (TrieView), the marks
// for the mouse, and the pieces it is drawn in. Drawing changes the view's place and the marks.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/layouts/trie_view.h"
#include "viz/panels/trie_minimap.h"
#include "viz/panels/trie_shape.h"

namespace triescope::viz {

struct TrieChip {
  Rect area;
  std::int32_t item = 0;
  std::int32_t merged = 0;  // further items on the same spot
};

struct TriePicture {
  static constexpr float kRowEm = 2.9f, kChipEm = 1.5f, kMarginEm = 1.2f;  // at zoom 1
  static constexpr float kNoteEm = 1.5f;  // the line below a figure that lacks nodes
  static constexpr float kMinChipEm = TrieShape::kMinChipEm, kGutterEm = TrieShape::kGutterEm,
                         kTailEm = TrieShape::kTailEm;

  TrieShape shape;
  TrieView view;
  TrieMinimap minimap;
  Rect body;                              // on the canvas
  float unit = 14;                        // px per em of the tree, as drawn
  std::vector<TrieChip> chips;            // in the order they were drawn
  std::unordered_set<std::int32_t> path;  // nodes from the focus to the root
  // A figure too small for the whole tree shows a section that can be read: boxes that the edge would cut
  // are left out.
  bool section = false;
};

// Places the tree in `picture.body` and draws what shows of it; a figure says how many nodes it lacks.
void draw_trie(Canvas& canvas, TriePicture& picture, const Scene& scene);

// The marks that were drawn, each with what is written below and behind it.
std::vector<Rect> trie_node_areas(const TriePicture& picture);

// One item, near enough to be a mark of its own. draw_trie_chip notes it for the mouse.
void draw_trie_edge(Canvas& canvas, const TriePicture& picture, std::int32_t item,
                    const Scene& scene);
void draw_trie_chip(Canvas& canvas, TriePicture& picture, std::int32_t item, const Scene& scene);

}  // namespace triescope::viz
