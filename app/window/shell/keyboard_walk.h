// Keyboard walk: Tab puts a visible focus into the window, by Dear ImGui's keyboard navigation.
// Without a focus, keys are the program's: arrows step, Space plays. With one, Tab, arrows, Enter,
// Space, Home, End and the page keys go to the focused item; F keys and Ctrl combinations stay the
// program's. Escape or a click ends the walk. Lecture mode has none, because its keys are a
// presenter's. Not thread-safe: window thread only.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "viz/handout/hit_boxes.h"

namespace triescope::app {

class KeyboardWalk {
 public:
  // Handles a key that may begin a walk: Tab, or Alt, which leads to the menus.
  void begin();
  void end();
  // True if an item had a visible focus in the last frame.
  bool has_focus() const;
  // Called between frames: tells Dear ImGui, and ends the walk where the focus went, for example by
  // a click.
  void update();
  // Called at the beginning of a frame: where the focused item is gone, for example a tab that was
  // moved, the first item of its window takes the focus.
  void revive();

 private:
  bool on_ = false;
  int frames_ = 0;  // since the walk began, without a focus
  int gone_ = 0;    // frames in which the focused item was not drawn
};

// True if the last item has the visible focus.
bool has_walk_focus();
// True if keys moved the focus since the mouse last moved: what lies under the mouse is not meant
// then.
bool keys_lead();
// Draws a ring inside `area`, for parts that are drawn over Dear ImGui's own ring.
void draw_walk_ring(const viz::Rect& area, ImU32 color, float em);

// Gives these keys to the last item while it has the focus, so that they do not move the walk on.
void own_keys(std::initializer_list<ImGuiKey> keys);
// True if a key that the last item owns is pressed now, or held long enough to repeat.
bool owned_key(ImGuiKey key);

// The node that an arrow leads to: the nearest of the boxes that lie beyond `from` in this
// direction (x, y: -1, 0, 1), where a step aside counts double; -1: none. Where `from` has no box,
// the first box. Pure.
std::int32_t node_beside(const std::vector<viz::HitBox>& boxes, std::int32_t from, int x, int y);

}  // namespace triescope::app
