#include "app/window/shell/command.h"

#include <algorithm>

namespace triescope::app {

const Command* CommandList::find(const std::string& id) const {
  for (const Command& command : commands_)
    if (command.id == id) return &command;
  return nullptr;
}

const Command* CommandList::find(Chord chord) const {
  for (const Command& command : commands_)
    if (std::find(command.chords.begin(), command.chords.end(), chord) != command.chords.end())
      return &command;
  return nullptr;
}

}  // namespace triescope::app
