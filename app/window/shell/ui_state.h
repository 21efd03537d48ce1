// UiState: what the window remembers from frame to frame and that is neither of the runs
// (Workspace) nor kept between two starts (Preferences). Plain data; the window thread's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/lesson/lesson_library.h"
#include "app/session/breakpoints.h"
#include "app/session/catalog.h"
#include "app/window/shell/find_in_run.h"
#include "app/window/shell/keyboard_walk.h"
#include "app/window/shell/lesson_textures.h"
#include "app/window/shell/number_field.h"
#include "app/window/shell/resting_mouse.h"
#include "app/window/shell/ui_files.h"
#include "app/window/workspace/pane_docking.h"
#include "app/window/workspace/preferences.h"
#include "app/window/workspace/workspace.h"

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
  kAbout,
  kLayouts,
  kLessons,
  kGlossary,
  kSaveRun
};

// A panel of the panes as it was drawn last.
struct DrawnPanel {
  std::uint64_t document = 0;  // serial
  std::string panel;
  viz::Scene scene;
  viz::Point size;
};

// Keys that act on a panel, pressed since the last frame.
struct PanelKeys {
  bool zoom_in = false, zoom_out = false, pan_left = false, pan_right = false, fit = false,
       fold = false, previous = false, next = false;
  std::string panel;  // which; "" = the one under the mouse
  bool operator==(const PanelKeys&) const = default;
};

// What the dialogs hold while they are open, and offer again the next time.
struct DialogMemory {
  FileBrowser open_files, save_files, compare_files, run_files;
  struct {
    int format = 0;  // viz::ExportFormat, then Animation
    viz::ThemeName theme = viz::ThemeName::kLight;
    bool both = true, slide = false;
    viz::ExportPart part = viz::ExportPart::kWhole;
    bool in_range = true;         // of kWhole
    std::string path, suggested;  // the path follows the suggestion until it is edited
  } picture;
  struct {
    std::string query;
    int selected = 0;
  } palette;
  int compare_selected = 0;  // of the open runs
  std::string bookmark_note, layout_name, what_if_text, glossary_query, keys_query;
  struct {
    std::vector<Breakpoint> points;  // as edited; those of the workspace once they can be hit
    std::string problem;             // why they cannot
    std::optional<BreakKind> add;    // one of this kind, as the dialog opens
    bool focus_last = false;         // its field is about to be edited
  } breakpoints;
};

struct UiState {
  Dialog dialog = Dialog::kNone;
  bool dialog_just_opened = false;
  DialogMemory dialogs;
  std::string export_panel;                // panel of the export dialog
  WholeRun save_run = WholeRun::kHandout;  // as what the dialog that saves the run does it
  std::vector<DrawnPanel> drawn_panels;    // in the last frame
  bool quit = false;
  std::string hovered_panel;        // the panel the mouse is over
  std::string last_panel = "trie";  // the one it was over last
  std::string hovered_term;         // a legend's entry or a column head under the mouse
  PanelKeys panel_keys;             // for the next frame
  KeyboardWalk walk;
  RestingMouse resting_mouse;
  FindInRun find;
  bool fullscreen = false;
  bool lesson_notes = false;       // the lecturer's are shown
  std::string lesson_to_audience;  // what of it an audience saw in the last frame
  LessonTextures lesson_textures;
  double lesson_number = 0;  // typed in answer to a lesson's question
  NumberEdit number_edit;
  // The lessons there are; read when a list of them is drawn for the first time.
  std::optional<std::vector<LibraryLesson>> lessons;
  float lesson_list_height = 0;  // px, of the start screen's; known once it was drawn
  std::string copy;              // goes to the clipboard with the next frame
  PaneNode maximised;            // the one pane there is while a panel is maximised
  std::string dragged_panel;     // by its tab
  std::string undock;            // a panel that a menu sends into a window of its own
  std::optional<std::pair<std::string, PaneMove>> move_panel;  // one that a menu moves
  int next_window = 0;  // +1, -1: the keys go to the next window of the program, the one before
  std::uint64_t tab_shown = 0;  // serial of the document whose tab was selected last; 0 = none
  // A window too narrow for run bar and panes: the run bar closes once there is something to see.
  bool narrow = false, run_bar_when_narrow = true;
  std::size_t seen_documents = 0;
  // Read again whenever a list of them opens.
  std::vector<CatalogEntry> catalog, draft_heads, draft_models;
  std::vector<std::string> device_memory;  // of the device list, as it opened
  // Where the model that the run bar names lies; looked up when the name changes.
  std::optional<std::string> model_name;
  std::string model_path;
  // What drafts where the run bar names nothing, for this method and model.
  std::pair<std::string, std::string> default_draft_of;
  std::string default_draft;
  // The line about memory, what it was made for, and when it is looked up again (ImGui's seconds).
  struct {
    std::string made_for, line, what, why;
    ModelInfo inspected;  // of a model that is not loaded
    double until = 0;
  } memory;

  // Panel commands come by key with the mouse over a panel, or from a menu or the palette without.
  const std::string& panel_meant() const {
    return hovered_panel.empty() ? last_panel : hovered_panel;
  }
  // `panel` as the panes show it, of the active run and, with `both`, of the one beside it. Empty: they
  // do not.
  std::vector<viz::SeenPanel> seen(const std::string& panel, const Workspace& workspace,
                                   bool both) const;
  bool& run_bar_open(Preferences& preferences) {
    return narrow ? run_bar_when_narrow : preferences.run_bar_open;
  }
  // The export dialog, for a PNG of this panel.
  void open_picture(const std::string& panel) {
    export_panel = panel;
    dialogs.picture.format = static_cast<int>(viz::ExportFormat::kPng);
    dialogs.picture.path.clear();  // proposed anew
    open(Dialog::kExport);
  }
  void open(Dialog which) {
    dialog = which;
    dialog_just_opened = true;
  }
};

}  // namespace triescope::app
