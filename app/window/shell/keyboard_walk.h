// Keyboard walk: Tab puts a visible focus into the window, on Dear ImGui's keyboard navigation. Without one, keys are
// the program's: arrows step, Space plays. With one, Tab, arrows, Enter, Space, Home, End and the page keys
// are those of what has the focus; F keys and Ctrl combinations stay the program's. It ends with Escape or a
// click. In lecture mode there is none: its keys are a presenter's. Not thread-safe: the window's thread.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "viz/handout/hit_boxes.h"

namespace triescope::app {

class KeyboardWalk {
 public:
  // A key that may begin it: Tab, or Alt, which leads to the menus.
  void begin();
  void end();
  // Of the frame that was drawn last: something has a visible focus.
  bool has_focus() const;
  // Between frames: tells Dear ImGui, and ends where the focus went, by a click for example.
  void update();
  // At the beginning of a frame: where what had the focus is gone, a tab that was moved for example, the first part
  // of its window gets it.
  void revive();

 private:
  bool on_ = false;
  int frames_ = 0;  // since it began, without a focus
  int gone_ = 0;    // frames in which what has the focus was not drawn
};

// The last item has the visible focus.
bool has_walk_focus();
// Keys moved the focus since the mouse last moved: what lies under the mouse is not what is meant.
bool keys_lead();
// A ring inside of `area`, for what is drawn over Dear ImGui's own.
void draw_walk_ring(const viz::Rect& area, ImU32 color, float em);

// The last item, which has the focus, takes these keys as long as it has it: the walk does not go on with them.
void own_keys(std::initializer_list<ImGuiKey> keys);
// Whether one that it owns is pressed now, or held long enough to count again.
bool owned_key(ImGuiKey key);

// Which node an arrow leads to: of the boxes beyond that of `from` in this direction (x, y: -1, 0, 1) the
// nearest, a step aside counting double; -1: none. Where `from` has no box, the first one there is. Pure.
std::int32_t node_beside(const std::vector<viz::HitBox>& boxes, std::int32_t from, int x, int y);

}  // namespace triescope::app
