// A field for a number, with buttons for less and more. What is typed counts at once while it is a
// number; a text that is none gives the field its old value back, and says what was expected.
#pragma once

#include <imgui.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace triescope::app {

// Of all fields of a window: at most one is typed into.
struct NumberEdit {
  ImGuiID id = 0;                 // 0 = none
  std::string text, before, why;  // typed; the value it began with; why `text` is refused
  // By field: the value it kept, and what was said. Until the field changes.
  std::map<ImGuiID, std::pair<std::string, std::string>> refused = {};
};

struct NumberValue {
  std::string text;  // the value
  // Takes a text. Errors: it is no number; says what was expected and found.
  std::function<void(const std::string& text)> take;
  std::function<void(int direction, bool fast)> step = {};  // none: no buttons
};

struct NumberAnswer {
  bool changed = false;
  bool restored = false;     // the change gave the old value back
  bool entered = false;      // Enter, behind a number
  std::string problem = {};  // to stand below the field; "" = none
};

// As wide as SetNextItemWidth() says.
NumberAnswer number_field(NumberEdit& edit, const char* label, const NumberValue& value);

}  // namespace triescope::app
