#include "app/window/fast_keys.h"

namespace triescope::app {
namespace {

bool is_modifier(ImGuiKey key) {
  return (key & ImGuiMod_Mask_) != 0 || (key >= ImGuiKey_LeftCtrl && key <= ImGuiKey_RightSuper);
}

// The index of the first change of a modifier behind a key's press; the queue's size if there is
// none.
int first_to_hold(const ImVector<ImGuiInputEvent>& queue) {
  bool pressed = false;
  for (int i = 0; i < queue.Size; ++i) {
    if (queue[i].Type != ImGuiInputEventType_Key) continue;
    if (!is_modifier(queue[i].Key.Key))
      pressed = pressed || queue[i].Key.Down;
    else if (pressed)
      return i;
  }
  return queue.Size;
}

}  // namespace

FastKeys::FastKeys() {
  ImVector<ImGuiInputEvent>& queue = ImGui::GetCurrentContext()->InputEventsQueue;
  const int from = first_to_hold(queue);
  for (int i = from; i < queue.Size; ++i) held_.push_back(queue[i]);
  queue.resize(from);
}

void FastKeys::release() {
  ImVector<ImGuiInputEvent>& queue = ImGui::GetCurrentContext()->InputEventsQueue;
  for (const ImGuiInputEvent& event : held_) queue.push_back(event);
  held_.clear();
}

}  // namespace triescope::app
