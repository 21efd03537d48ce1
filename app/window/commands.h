// The command table: one list that feeds menu, keys, palette and scripts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/run/catalog.h"
#include "app/window/chord.h"
#include "app/window/workspace.h"

namespace triescope::app {

// Which dialog is open; at most one.
enum class Dialog : std::uint8_t {
  kNone,
  kOpen,
  kSaveAs,
  kExport,
  kCompare,
  kPalette,
  kKeys,
  kBreakpoints,
  kWhatIf,
  kMessages,
  kBookmark,
  kAbout
};

struct UiState {
  Dialog dialog = Dialog::kNone;
  bool dialog_just_opened = false;
  std::string export_panel;  // panel of the export dialog
  bool quit = false;
  bool rebuild_fonts = false;
  std::string hovered_panel;  // the panel the mouse is over
  // A window too narrow for run bar and panes: the run bar gives way once there is something to
  // see.
  bool narrow = false, run_bar_when_narrow = true;
  std::size_t seen_documents = 0;
  bool prompt_active = false;                         // the prompt is being edited
  std::vector<CatalogEntry> catalog = list_models();  // anew whenever a list of them opens
  // Where the model that the run bar names lies; looked up when the name changes.
  std::optional<std::string> model_name;
  std::string model_path;
  bool& run_bar_open(Preferences& preferences) {
    return narrow ? run_bar_when_narrow : preferences.run_bar_open;
  }
  void open(Dialog which) {
    dialog = which;
    dialog_just_opened = true;
  }
};

struct Command {
  std::string id;             // "step"
  std::string title;          // "Step"
  std::string menu;           // "Run"; "" = palette and keys alone
  std::vector<Chord> chords;  // the first is shown
  std::function<void()> run;
  std::function<bool()> enabled;  // empty = always
  std::function<bool()> checked;  // empty = no tick
  bool separator_before = false;
  std::string help = {};  // what the title does not say; "" = nothing

  bool is_enabled() const { return !enabled || enabled(); }
};

class CommandTable {
 public:
  CommandTable(Workspace& workspace, UiState& ui);
  const std::vector<Command>& all() const { return commands_; }
  const Command* find(const std::string& id) const;  // nullptr = none
  const Command* find(Chord chord) const;

 private:
  std::vector<Command> commands_;
};

inline const std::vector<std::string>& menu_names() {
  static const std::vector<std::string> names = {"File", "Run", "Go", "View", "Help"};
  return names;
}

}  // namespace triescope::app
