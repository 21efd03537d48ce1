// What the rows of the command table are written with.
#pragma once

#include <functional>
#include <initializer_list>
#include <vector>

#include "app/window/commands.h"

namespace triescope::app {

using Commands = std::vector<Command>;

inline std::vector<Chord> chords(std::initializer_list<const char*> texts) {
  std::vector<Chord> result;
  for (const char* text : texts) result.push_back(chord_from_string(text));
  return result;
}

inline std::function<void()> opens(UiState& ui, Dialog dialog) {
  return [&ui, dialog] { ui.open(dialog); };
}

inline std::function<bool()> has_document(const Workspace& w) {
  return [&w] { return w.active() != nullptr; };
}

}  // namespace triescope::app
