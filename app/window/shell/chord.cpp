#include "app/window/shell/chord.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <cctype>
#include <cstdlib>
#include <utility>

#include "core/base/error.h"

namespace triescope::app {
namespace {

constexpr std::pair<int, const char*> kNamedKeys[] = {
    {GLFW_KEY_SPACE, "Space"},
    {GLFW_KEY_ESCAPE, "Esc"},
    {GLFW_KEY_ENTER, "Enter"},
    {GLFW_KEY_TAB, "Tab"},
    {GLFW_KEY_LEFT, "Left"},
    {GLFW_KEY_RIGHT, "Right"},
    {GLFW_KEY_UP, "Up"},
    {GLFW_KEY_DOWN, "Down"},
    {GLFW_KEY_HOME, "Home"},
    {GLFW_KEY_END, "End"},
    {GLFW_KEY_PAGE_UP, "PageUp"},
    {GLFW_KEY_PAGE_DOWN, "PageDown"},
    {GLFW_KEY_DELETE, "Delete"},
    {GLFW_KEY_BACKSPACE, "Backspace"},
    {GLFW_KEY_EQUAL, "="},
    {GLFW_KEY_MINUS, "-"},
    {GLFW_KEY_COMMA, ","},
    {GLFW_KEY_PERIOD, "."},
    {GLFW_KEY_SLASH, "/"},
    {GLFW_KEY_KP_ADD, "KeypadPlus"},
    {GLFW_KEY_KP_SUBTRACT, "KeypadMinus"},
    {GLFW_KEY_KP_ENTER, "KeypadEnter"},
};

}  // namespace

std::string to_string(Chord chord) {
  if (chord.key == 0) return "";
  std::string text;
  if (chord.mods & GLFW_MOD_CONTROL) text += "Ctrl+";
  if (chord.mods & GLFW_MOD_ALT) text += "Alt+";
  if (chord.mods & GLFW_MOD_SHIFT) text += "Shift+";
  if (chord.key >= GLFW_KEY_F1 && chord.key <= GLFW_KEY_F25)
    return text + "F" + std::to_string(chord.key - GLFW_KEY_F1 + 1);
  for (const auto& [key, name] : kNamedKeys)
    if (key == chord.key) return text + name;
  if ((chord.key >= GLFW_KEY_A && chord.key <= GLFW_KEY_Z) ||
      (chord.key >= GLFW_KEY_0 && chord.key <= GLFW_KEY_9))
    return text + static_cast<char>(chord.key);
  return text + "key " + std::to_string(chord.key);
}

Chord chord_from_string(const std::string& text) {
  Chord chord;
  std::string rest = text;
  for (const auto& [prefix, mod] :
       {std::pair{"Ctrl+", GLFW_MOD_CONTROL}, std::pair{"Alt+", GLFW_MOD_ALT},
        std::pair{"Shift+", GLFW_MOD_SHIFT}}) {
    const std::string name = prefix;
    if (rest.rfind(name, 0) != 0) continue;
    chord.mods |= mod;
    rest.erase(0, name.size());
  }
  for (const auto& [key, name] : kNamedKeys)
    if (rest == name) chord.key = key;
  if (rest.size() == 1 && std::isalnum(static_cast<unsigned char>(rest[0])))
    chord.key =
        std::toupper(static_cast<unsigned char>(rest[0]));  // GLFW's letters and digits are ASCII
  if (rest.size() >= 2 && rest[0] == 'F' && std::isdigit(static_cast<unsigned char>(rest[1]))) {
    const int number = std::atoi(rest.c_str() + 1);
    if (number >= 1 && number <= 25) chord.key = GLFW_KEY_F1 + number - 1;
  }
  if (chord.key == 0)
    throw Error(ErrorCode::kInvalidArgument,
                "'" + text +
                    "' is not a key: expected Ctrl+, Alt+, Shift+ in this order and a key such as "
                    "F10, Space, Left, P");
  return chord;
}

}  // namespace triescope::app
