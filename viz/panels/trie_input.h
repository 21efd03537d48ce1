// The trie panel's mouse and keys, and its tooltips.
#pragma once

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/panels/trie_fold_state.h"
#include "viz/panels/trie_picture.h"

namespace triescope::viz {

// `mode_button`: where the button of the folds was drawn; empty = it was not.
Reaction trie_input(const Input& in, Rect mode_button, const Scene& scene, TriePicture& picture,
                    TrieFoldState& folds);

}  // namespace triescope::viz
