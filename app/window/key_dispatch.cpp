#include "app/window/key_dispatch.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_internal.h>

namespace triescope::app {
namespace {

// Escape ends one thing at a time, the innermost first: an open menu or list, the dialog, a text
// field (which keeps its text: keep_on_escape()), then the lock, the selection or the maximised
// panel.
void leave_innermost(UiState& state, Workspace& workspace, bool typing) {
  if (!state.dragged_panel.empty()) return state.dragged_panel.clear();
  const bool dialog = state.dialog != Dialog::kNone;
  const int open = ImGui::GetCurrentContext()->OpenPopupStack.Size;
  if (open > (dialog ? 1 : 0)) return ImGui::ClosePopupToLevel(open - 1, true);
  if (dialog) {
    state.dialog = Dialog::kNone;
    return;
  }
  if (workspace.lecture.is_on()) return workspace.lecture.escape();
  if (state.find.open) {
    state.find.open = false;
    return;
  }
  if (typing) return;
  if (state.walk.has_focus()) return state.walk.end();
  if (!workspace.active()) return;
  workspace.comparison.lock_focus(-1);
  workspace.comparison.set_range_of(*workspace.active(), std::nullopt);
  workspace.layouts.maximised.clear();
}

// Keys that belong to the focused item.
bool walks(int key) {
  return (key >= GLFW_KEY_RIGHT && key <= GLFW_KEY_UP) || key == GLFW_KEY_ENTER ||
         key == GLFW_KEY_SPACE || (key >= GLFW_KEY_PAGE_UP && key <= GLFW_KEY_END);
}

}  // namespace

void dispatch_keys(const std::vector<KeyPress>& keys, const CommandTable& commands, Ui& ui) {
  UiState& state = ui.state;
  const bool typing = ImGui::GetIO().WantTextInput;
  for (const KeyPress& press : keys) {
    const int mods = press.mods & (GLFW_MOD_SHIFT | GLFW_MOD_CONTROL | GLFW_MOD_ALT);
    const bool function_key = press.key >= GLFW_KEY_F1 && press.key <= GLFW_KEY_F25;
    const bool edits_text = (mods & GLFW_MOD_CONTROL) == 0 || press.key == GLFW_KEY_LEFT ||
                            press.key == GLFW_KEY_RIGHT || press.key == GLFW_KEY_A ||
                            press.key == GLFW_KEY_C || press.key == GLFW_KEY_V ||
                            press.key == GLFW_KEY_X || press.key == GLFW_KEY_Z ||
                            press.key == GLFW_KEY_Y;
    if (press.key == GLFW_KEY_ESCAPE) {
      leave_innermost(state, ui.workspace, typing);
      continue;
    }
    // Tab, or Alt with nothing else, begins a walk; Dear ImGui handles the keys that follow.
    const bool control = (mods & GLFW_MOD_CONTROL) != 0;
    if (!ui.workspace.lecture.is_on() && !control &&
        (press.key == GLFW_KEY_TAB || press.key == GLFW_KEY_LEFT_ALT))
      state.walk.begin();
    if (mods == 0 && state.walk.has_focus() && walks(press.key)) continue;
    // While a dialog is open, every key belongs to it.
    if (state.dialog != Dialog::kNone) continue;
    if (typing && !function_key && edits_text) continue;
    const Chord chord{press.key, mods};
    const Command* const command =
        ui.workspace.lecture.is_on() ? commands.find_in_lecture(chord) : commands.find(chord);
    if (command && command->is_enabled()) command->run();
  }
}

}  // namespace triescope::app
