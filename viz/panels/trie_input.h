// Mouse, keys and tooltips of the trie panel.
#pragma once

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/panels/trie_fold_state.h"
#include "viz/panels/trie_picture.h"

namespace triescope::viz {

// `mode_button` is where the folds' button was drawn; empty = it was not drawn.
Reaction trie_input(const Input& in, Rect mode_button, const Scene& scene, TriePicture& picture,
                    TrieFoldState& folds);

}  // namespace triescope::viz
