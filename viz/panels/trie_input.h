// Mouse, keys and tooltips of the trie panel, what the user folded with them, and its text in the layout.
#pragma once

#include <string>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/layouts/trie_folds.h"
#include "viz/layouts/trie_view.h"
#include "viz/panels/trie_picture.h"
#include "viz/panels/trie_shape.h"

namespace triescope::viz {

// The nodes that the user has folded and opened.
struct TrieFoldState {
  FoldOptions options;
  int version = 0;  // changes whenever `options` does
};

void next_mode(TrieFoldState& folds);  // auto, all, none, auto
const char* mode_name(FoldMode mode);  // "auto", "all", "none"
// Opens a folded item, or folds its subtree away.
void toggle(TrieFoldState& folds, const TrieItem& item, const capture::Capture& capture);

// "mode=auto;zoom=1.000;fit=1;closed=3,7;opened=12", and back. Unknown parts are ignored.
std::string trie_view_state(const TrieFoldState& folds, const TrieView& view);
void set_trie_view_state(const std::string& state, TrieFoldState& folds, TrieView& view);

// `mode_button` is where the folds' button was drawn; empty = it was not drawn.
Reaction trie_input(const Input& in, Rect mode_button, const Scene& scene, TriePicture& picture,
                    TrieFoldState& folds);

}  // namespace triescope::viz
