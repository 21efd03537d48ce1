#include "app/window/shell/resting_mouse.h"

#include <doctest/doctest.h>

#include "tests/unit/window/headless_imgui.h"

namespace triescope::app::test_resting_mouse {
namespace {

TEST_CASE("resting mouse: a mouse that rests is silent from a key on until it is used again") {
  RestingMouse mouse;
  CHECK_FALSE(mouse.silent());
  mouse.see(/*key=*/false, /*mouse=*/false);
  CHECK_FALSE(mouse.silent());
  mouse.see(true, false);
  CHECK(mouse.silent());
  mouse.see(false, false);
  mouse.see(true, false);
  mouse.see(false, false);
  CHECK(mouse.silent());
  mouse.see(false, true);
  CHECK_FALSE(mouse.silent());
  mouse.see(true, true);  // both at once: the mouse is in use
  CHECK_FALSE(mouse.silent());
}

// Dear ImGui's frames, without a window.
struct Frames : test::HeadlessImGui {
  Frames() : HeadlessImGui({800, 600}) { frame(); }
  // True if tooltips wait in this frame.
  bool frame() {
    ImGui::GetIO().DeltaTime = 1.0f / 60;
    ImGui::NewFrame();
    see_inputs(mouse);
    const bool wait = tooltips_wait();
    ImGui::EndFrame();
    return wait;
  }
  bool key(ImGuiKey key) {
    ImGui::GetIO().AddKeyEvent(key, true);
    const bool wait = frame();
    ImGui::GetIO().AddKeyEvent(key, false);
    frame();
    return wait;
  }
  RestingMouse mouse;
};

TEST_CASE_FIXTURE(
    Frames, "resting mouse: tooltips wait after a key, and not after Shift, Ctrl or Alt alone") {
  ImGui::GetIO().AddMousePosEvent(100, 100);
  frame();
  frame();
  CHECK_FALSE(frame());
  for (const ImGuiKey modifier : {ImGuiKey_LeftShift, ImGuiKey_RightCtrl, ImGuiKey_LeftAlt})
    CHECK_FALSE(key(modifier));
  CHECK(key(ImGuiKey_F10));
  CHECK(frame());
  ImGui::GetIO().AddMousePosEvent(101, 100);
  CHECK_FALSE(frame());
  CHECK(key(ImGuiKey_RightArrow));
  ImGui::GetIO().AddMouseWheelEvent(0, 1);
  CHECK_FALSE(frame());
  CHECK(key(ImGuiKey_Space));
  ImGui::GetIO().AddMouseButtonEvent(0, true);
  CHECK_FALSE(frame());
}

}  // namespace
}  // namespace triescope::app::test_resting_mouse
