#include "app/window/shell/resting_mouse.h"

#include "app/window/shell/keyboard_walk.h"

namespace triescope::app {

void see_inputs(RestingMouse& mouse) {
  ImGuiIO& io = ImGui::GetIO();
  io.UserData = &mouse;
  bool key = false;
  for (int k = ImGuiKey_NamedKey_BEGIN; k < ImGuiKey_GamepadStart; ++k) {
    const auto one = static_cast<ImGuiKey>(k);
    key = key ||
          (!(one >= ImGuiKey_LeftCtrl && one <= ImGuiKey_RightSuper) && ImGui::IsKeyPressed(one));
  }
  bool buttons = false;
  for (const bool clicked : io.MouseClicked) buttons = buttons || clicked;
  mouse.see(key, io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || io.MouseWheel != 0 ||
                     io.MouseWheelH != 0 || buttons);
}

bool tooltips_wait() {
  const auto* const mouse = static_cast<const RestingMouse*>(ImGui::GetIO().UserData);
  return mouse && mouse->silent() && !keys_lead();
}

}  // namespace triescope::app
