// Types into number fields of a Dear ImGui without a window.
#include <doctest/doctest.h>
#include <imgui.h>

#include <string>

#include "app/session/typed_number.h"
#include "app/window/shell/number_field.h"
#include "tests/unit/window/headless_imgui.h"

namespace triescope::app::test_number_field {
namespace {

class Fields : test::HeadlessImGui {
 public:
  Fields() : HeadlessImGui({400, 400}) {
    ImGui::GetIO().ConfigInputTrickleEventQueue = false;
    frame();
  }

  void frame(bool focus = false) {
    ImGui::GetIO().DeltaTime = 1.0f / 60;
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({400, 400});
    ImGui::Begin("w");
    if (focus) ImGui::SetKeyboardFocusHere();
    answer = number_field(
        edit, "##number",
        {.text = typed_text(parameter, value),
         .take = [&](const std::string& text) { value = read_typed(parameter, text); }});
    other = number_field(edit, "##other",
                         {.text = std::to_string(seed),
                          .take = [&](const std::string& text) { seed = read_seed(text); }});
    ImGui::End();
    ImGui::Render();
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures)
      if (texture->Status != ImTextureStatus_Destroyed) {
        texture->SetTexID(1);
        texture->SetStatus(ImTextureStatus_OK);
      }
  }
  // Types into the first field, replacing its text, one letter a frame.
  void type(const std::string& text) {
    frame(/*focus=*/true);
    for (int i = 0; i < 3; ++i) frame();
    for (const char c : text) {
      ImGui::GetIO().AddInputCharacter(static_cast<unsigned>(c));
      frame();
    }
  }
  void press(ImGuiKey key) {
    ImGui::GetIO().AddKeyEvent(key, true);
    frame();
    const NumberAnswer first = answer;
    ImGui::GetIO().AddKeyEvent(key, false);
    frame();
    answer.entered |= first.entered;
  }

  Parameter parameter = number("share", "Share", 0.5, 0, 1, "");
  nlohmann::json value = 0.5;
  std::uint64_t seed = 7;
  NumberEdit edit;
  NumberAnswer answer, other;
};

TEST_CASE("number field: a number counts as it is typed, one out of range too") {
  Fields fields;
  fields.type("0.2");
  CHECK(fields.value == 0.2);
  fields.press(ImGuiKey_Enter);
  CHECK(fields.value == 0.2);
  CHECK(fields.answer.entered);
  CHECK(fields.answer.problem.empty());
  fields.type("20");
  fields.press(ImGuiKey_Enter);
  CHECK(fields.value == 20);  // the reason why a run refuses it is drawn below the field
  CHECK(fields.answer.problem.empty());
}

TEST_CASE("number field: what is no number gives the old value back, and says what was expected") {
  for (const char* text : {"abc", "0.2x", "0,2", "0.2 0.3", "-", "1e"}) {
    CAPTURE(text);
    Fields fields;
    fields.type(text);
    CHECK(fields.value == 0.5);  // even though it begins as a number
    fields.press(ImGuiKey_Enter);
    CHECK(fields.value == 0.5);
    CHECK_FALSE(fields.answer.entered);
    fields.frame();
    CHECK(fields.answer.problem ==
          "expected a number from 0 to 1; found \"" + std::string(text) + "\". It stays 0.5");
    CHECK(fields.other.problem.empty());
    // The message stays until the field has another value.
    fields.type("0.3");
    fields.press(ImGuiKey_Enter);
    fields.frame();
    CHECK(fields.value == 0.3);
    CHECK(fields.answer.problem.empty());
  }
}

TEST_CASE(
    "number field: a refusal goes when the value comes from elsewhere; Escape refuses nothing") {
  Fields fields;
  fields.type("abc");
  fields.press(ImGuiKey_Enter);
  fields.frame();
  CHECK_FALSE(fields.answer.problem.empty());
  fields.value = 0.75;
  fields.frame();
  CHECK(fields.answer.problem.empty());
  fields.type("x");
  fields.press(ImGuiKey_Escape);
  fields.frame();
  CHECK(fields.value == 0.75);
  CHECK(fields.answer.problem.empty());
}

}  // namespace
}  // namespace triescope::app::test_number_field
