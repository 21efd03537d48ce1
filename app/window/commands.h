// The command table: one list that feeds menu, keys, palette and scripts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/window/chord.h"
#include "app/window/ui_state.h"
#include "app/window/workspace.h"

namespace triescope::app {

struct Command {
  std::string id = {};                     // "step"
  std::string title = {};                  // "Step"
  std::string menu = {};                   // "Run"; "" = palette and keys alone
  std::vector<Chord> chords = {};          // the first is shown
  std::vector<Chord> lecture_chords = {};  // in lecture mode alone, before all others
  std::function<void()> run = {};
  std::function<bool()> enabled = {};  // empty = always
  std::function<bool()> checked = {};  // empty = no tick
  bool separator_before = false;
  std::string help = {};      // what the title does not say; "" = nothing
  std::string keywords = {};  // other words that people look for it by

  bool is_enabled() const { return !enabled || enabled(); }
};

class CommandTable {
 public:
  CommandTable(Workspace& workspace, UiState& ui);
  // After layouts were saved or forgotten: each has a command. Between frames; commands move.
  void update(Workspace& workspace, UiState& ui);
  const std::vector<Command>& all() const { return commands_; }
  const Command* find(const std::string& id) const;  // nullptr = none
  const Command* find(Chord chord) const;
  // In lecture mode: its own keys, then those of the window's that work there.
  const Command* find_in_lecture(Chord chord) const;

 private:
  std::vector<Command> commands_;
  std::vector<std::string> own_layouts_;
};

inline const std::vector<std::string>& menu_names() {
  static const std::vector<std::string> names = {"File", "Run", "Go", "View", "Help"};
  return names;
}

}  // namespace triescope::app
