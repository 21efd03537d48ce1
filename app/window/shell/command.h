// Command: one action of the window, as menu, keys, palette and scripts know it, and the list of
// all commands.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/window/shell/chord.h"

namespace triescope::app {

struct Command {
  std::string id = {};                     // "step"
  std::string title = {};                  // "Step"
  std::string menu = {};                   // "Run"; "" = only palette and keys
  std::vector<Chord> chords = {};          // the first is shown
  std::vector<Chord> lecture_chords = {};  // in lecture mode, before all others
  std::function<void()> run = {};
  std::function<bool()> enabled = {};  // empty = always
  std::function<bool()> checked = {};  // empty = no tick
  bool separator_before = false;
  std::string help = {};      // adds to the title; "" = nothing
  std::string keywords = {};  // other words that people search for

  bool is_enabled() const { return !enabled || enabled(); }
};

class CommandList {
 public:
  const std::vector<Command>& all() const { return commands_; }
  const Command* find(const std::string& id) const;  // nullptr = none
  const Command* find(Chord chord) const;

 protected:
  std::vector<Command> commands_;
};

inline const std::vector<std::string>& menu_names() {
  static const std::vector<std::string> names = {"File", "Run", "Go", "View", "Help"};
  return names;
}

}  // namespace triescope::app
