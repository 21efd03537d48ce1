// Key chords that are faster than frames.
#include "app/window/fast_keys.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/window/headless_imgui.h"

namespace triescope::app::test_fast_keys {
namespace {

class Context : test::HeadlessImGui {
 public:
  Context() : HeadlessImGui({640, 480}) {}

  void key(ImGuiKey key, bool down) { ImGui::GetIO().AddKeyEvent(key, down); }
  // Presses keys as xdotool and fast typists do: modifier down, key down, modifier up, key up.
  void chord(ImGuiKey modifier, ImGuiKey left, ImGuiKey pressed) {
    key(modifier, true), key(left, true), key(pressed, true);
    key(modifier, false), key(left, false), key(pressed, false);
  }
  // The keys that each frame sees, until none is queued.
  std::vector<std::string> frames(
      const std::vector<std::pair<ImGuiKeyChord, std::string>>& looked) {
    std::vector<std::string> seen;
    do {
      FastKeys keys;
      ImGui::NewFrame();
      keys.release();
      for (const auto& [chord, name] : looked)
        if (ImGui::IsKeyChordPressed(chord, ImGuiInputFlags_None)) seen.push_back(name);
      ImGui::Render();
    } while (ImGui::GetCurrentContext()->InputEventsQueue.Size > 0);
    return seen;
  }
};

using Names = std::vector<std::string>;
const std::vector<std::pair<ImGuiKeyChord, std::string>> kLooked = {
    {ImGuiMod_Ctrl | ImGuiKey_A, "Ctrl+A"},
    {ImGuiKey_A, "A"},
    {ImGuiMod_Ctrl | ImGuiKey_C, "Ctrl+C"},
    {ImGuiKey_C, "C"},
    {ImGuiMod_Shift | ImGuiKey_X, "Shift+X"}};

TEST_CASE(
    "fast keys: a chord within one frame is seen with its modifier, and the modifier is up afterwards") {
  Context context;
  context.chord(ImGuiMod_Ctrl, ImGuiKey_LeftCtrl, ImGuiKey_A);
  CHECK(context.frames(kLooked) == Names{"Ctrl+A"});
  CHECK(ImGui::GetIO().KeyMods == 0);
  CHECK_FALSE(ImGui::IsKeyDown(ImGuiKey_A));
  context.key(ImGuiKey_A, true);
  CHECK(context.frames(kLooked) == Names{"A"});
}

TEST_CASE("fast keys: a modifier that follows a key does not reach back to it") {
  Context context;
  context.key(ImGuiKey_A, true), context.key(ImGuiKey_A, false);
  context.chord(ImGuiMod_Ctrl, ImGuiKey_LeftCtrl, ImGuiKey_C);
  CHECK(context.frames(kLooked) == Names{"A", "Ctrl+C"});
}

TEST_CASE("fast keys: several chords in one frame keep their order and their modifiers") {
  Context context;
  context.chord(ImGuiMod_Ctrl, ImGuiKey_LeftCtrl, ImGuiKey_A);
  context.chord(ImGuiMod_Shift, ImGuiKey_LeftShift, ImGuiKey_X);
  context.chord(ImGuiMod_Ctrl, ImGuiKey_RightCtrl, ImGuiKey_C);
  CHECK(context.frames(kLooked) == Names{"Ctrl+A", "Shift+X", "Ctrl+C"});
  CHECK(ImGui::GetIO().KeyMods == 0);
}

TEST_CASE("fast keys: inputs without a chord are not held back") {
  Context context;
  context.key(ImGuiKey_A, true);
  ImGui::GetIO().AddInputCharacter('a');
  FastKeys keys;
  CHECK(ImGui::GetCurrentContext()->InputEventsQueue.Size == 2);
  keys.release();
  CHECK(ImGui::GetCurrentContext()->InputEventsQueue.Size == 2);
}

}  // namespace
}  // namespace triescope::app::test_fast_keys
