// A field for a number, with buttons for less and more. A typed number counts at once. Any other
// text gives the field its old value back, and a message says what was expected.
#pragma once

#include <imgui.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace triescope::app {

// The state of all fields of a window: at most one is being typed into.
struct NumberEdit {
  ImGuiID id = 0;                 // 0 = none
  std::string text, before, why;  // typed; the value before; why `text` is refused
  // By field: the value it kept, and the message about it, until the field changes.
  std::map<ImGuiID, std::pair<std::string, std::string>> refused = {};
};

struct NumberValue {
  std::string text;  // the value
  // Takes a typed text. Errors: it is not a number; says what was expected and found.
  std::function<void(const std::string& text)> take;
  std::function<void(int direction, bool fast)> step = {};  // empty: no buttons
};

struct NumberAnswer {
  bool changed = false;
  bool restored = false;     // the change gave the old value back
  bool entered = false;      // Enter was pressed behind a number
  std::string problem = {};  // text for below the field; "" = none
};

// As wide as SetNextItemWidth() says.
NumberAnswer number_field(NumberEdit& edit, const char* label, const NumberValue& value);

}  // namespace triescope::app
