// TriePicture: the token tree as it was drawn last: its content (TrieShape), its place (TrieView)
// and its marks for the mouse. Drawing changes the view's place and the marks.
#pragma once

#include <cstdint>
#include <unordered_map>
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
  std::int32_t merged = 0;  // further items in the same spot
};

struct TriePicture {
  static constexpr float kRowEm = 2.9f, kChipEm = 1.5f, kMarginEm = 1.2f;  // at zoom 1
  static constexpr float kNoteEm = 1.5f;  // the line below a figure that lacks nodes
  static constexpr float kMinChipEm = TrieShape::kMinChipEm, kGutterEm = TrieShape::kGutterEm,
                         kTailEm = TrieShape::kTailEm;

  TrieShape shape;
  TrieView view;
  TrieMinimap minimap;
  Rect body;                                              // on the canvas
  float unit = 14;                                        // px per em of the tree, as drawn
  std::vector<TrieChip> chips;                            // in drawing order
  std::unordered_set<std::int32_t> path;                  // nodes from the focus to the root
  std::unordered_map<std::int32_t, std::int64_t> growth;  // this step's drafts by when they grew
  // Set in a figure too small for the whole tree: it shows a readable section, and leaves out boxes
  // that the edge would cut.
  bool section = false;
};

// Places the tree in `picture.body` and draws the part in sight. A figure says how many nodes it
// lacks.
void draw_trie(Canvas& canvas, TriePicture& picture, const Scene& scene);

// Looks up in which order the step's drafts grew, where the drafter says it.
void note_growth(TriePicture& picture, const Scene& scene);
// Draws that number on the top right corner of the node's box.
void draw_growth_number(Canvas& canvas, const TriePicture& picture, std::int32_t node, Rect box,
                        const Scene& scene);

// The areas of the marks that were drawn, each with its captions below and behind.
std::vector<Rect> trie_node_areas(const TriePicture& picture);

// Draw one item near enough to have a mark of its own. draw_trie_chip() notes the mark for the
// mouse.
void draw_trie_edge(Canvas& canvas, const TriePicture& picture, std::int32_t item,
                    const Scene& scene);
void draw_trie_chip(Canvas& canvas, TriePicture& picture, std::int32_t item, const Scene& scene);

}  // namespace triescope::viz
