// UiState: state that the window keeps from frame to frame, apart from the runs (Workspace) and
// from what it keeps between two starts (Preferences). Plain data; window thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/lesson/lesson_library.h"
#include "app/session/breakpoints.h"
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
  kSaveRun,
  kConnect
};

// A pane's panel as it was drawn last.
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
  std::string panel;  // the panel meant; "" = the one under the mouse
  bool operator==(const PanelKeys&) const = default;
};

// State of the dialogs, kept for the next time they open.
struct DialogMemory {
  FileBrowser open_files, save_files, compare_files, run_files;
  struct {
    int format = 0;  // viz::ExportFormat, then Animation
    viz::ThemeName theme = viz::ThemeName::kLight;
    bool both = true, slide = false, notes = false;
    viz::ExportPart part = viz::ExportPart::kWhole;
    bool in_range = true;         // only for kWhole
    std::string path, suggested;  // the path follows the suggestion until it is edited
  } picture;
  struct {
    std::string query;
    int selected = 0;
  } palette;
  struct {
    std::string host, program = "triescope", session;
    bool watch = false;
  } connect;
  int connect_lines = -1;  // Connection::lines() when the dialog began to connect; -1 = it did not
  int compare_selected = 0;                            // index among the open runs
  std::map<std::int64_t, std::string> bookmark_notes;  // as edited, by id
  std::string bookmark_note, layout_name, what_if_text, glossary_query, keys_query;
  struct {
    std::vector<Breakpoint> points;  // as edited; the workspace takes them once all can be hit
    std::string problem;             // why one cannot be hit
    std::optional<BreakKind> add;    // the dialog opens with a new one of this kind
    bool focus_last = false;         // its field is about to be edited
  } breakpoints;
};

struct UiState {
  Dialog dialog = Dialog::kNone;
  bool dialog_just_opened = false;
  DialogMemory dialogs;
  std::string export_panel;
  WholeRun save_run = WholeRun::kHandout;  // the format that the dialog for whole runs writes
  std::vector<DrawnPanel> drawn_panels;    // in the last frame
  bool quit = false;
  std::string hovered_panel;        // the panel the mouse is over
  std::string last_panel = "trie";  // the panel the mouse was over last
  std::string hovered_term;         // a legend's entry or a column head under the mouse
  PanelKeys panel_keys;             // for the next frame
  KeyboardWalk walk;
  std::vector<int> turn_ids;  // of the chat's turns: the focus goes along with one that moves
  RestingMouse resting_mouse;
  FindInRun find;
  bool fullscreen = false;
  bool lesson_notes = false;       // whether the lecturer's notes are shown
  std::string lesson_to_audience;  // lesson and step that the audience saw in the last frame
  LessonTextures lesson_textures;
  double lesson_number = 0;  // typed in answer to a lesson's question
  NumberEdit number_edit;
  // All lessons; read when a list of them is first drawn.
  std::optional<std::vector<LibraryLesson>> lessons;
  float lesson_list_height = 0;  // px, on the start screen; known once it was drawn
  std::string copy;              // goes to the clipboard with the next frame
  PaneNode maximised;            // the only pane while a panel is maximised
  std::string dragged_panel;     // whose tab is dragged
  std::string undock;            // a panel that a menu moves into a window of its own
  std::optional<std::pair<std::string, PaneMove>> move_panel;  // a panel that a menu moves
  int next_window = 0;  // +1, -1: the keyboard goes to the program's next or previous window
  std::uint64_t tab_shown = 0;  // serial of the document whose tab was selected last; 0 = none
  // In a window too narrow for both, the run bar closes once the panes have something to show.
  bool narrow = false, run_bar_when_narrow = true;
  std::size_t seen_documents = 0;
  std::vector<std::string> device_memory;  // a text a device, read when the list opened
  double memory_until = 0;                 // ImGui's seconds: the memory line is then asked again

  // A key acts on the panel under the mouse; a menu or the palette on the panel it was over last.
  const std::string& panel_meant() const {
    return hovered_panel.empty() ? last_panel : hovered_panel;
  }
  // The panel as the panes show it, of the active run and, if `both`, of its partner. Empty: they
  // do not show it.
  std::vector<viz::SeenPanel> seen(const std::string& panel, const Workspace& workspace,
                                   bool both) const;
  bool& run_bar_open(Preferences& preferences) {
    return narrow ? run_bar_when_narrow : preferences.run_bar_open;
  }
  // Opens the export dialog for a PNG of this panel.
  void open_picture(const std::string& panel) {
    export_panel = panel;
    dialogs.picture.format = static_cast<int>(viz::ExportFormat::kPng);
    dialogs.picture.path.clear();  // a new one is proposed
    open(Dialog::kExport);
  }
  void open(Dialog which) {
    dialog = which;
    dialog_just_opened = true;
  }
};

}  // namespace triescope::app
