#include "app/window/commands.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace triescope::app {
namespace {

std::vector<Chord> chords(std::initializer_list<const char*> texts) {
  std::vector<Chord> result;
  for (const char* text : texts) result.push_back(chord_from_string(text));
  return result;
}

void scale_by(Workspace& workspace, UiState& ui, float factor) {
  const float scale = workspace.preferences.user_scale * factor;
  workspace.preferences.user_scale = std::clamp(std::round(scale * 20) / 20, 0.5f, 4.0f);
  ui.rebuild_fonts = true;
}

}  // namespace

CommandTable::CommandTable(Workspace& w, UiState& ui) {
  const auto has_document = [&w] { return w.active() != nullptr; };
  const auto add = [this](Command command) { commands_.push_back(std::move(command)); };

  add({"open",
       "Open capture or model…",
       "File",
       chords({"Ctrl+O"}),
       [&ui] { ui.open(Dialog::kOpen); },
       {},
       {}});
  add({"save-as",
       "Save capture as…",
       "File",
       chords({"Ctrl+S"}),
       [&ui] { ui.open(Dialog::kSaveAs); },
       has_document,
       {}});
  add({"export",
       "Export a panel…",
       "File",
       chords({"Ctrl+E"}),
       [&ui] {
         if (!ui.hovered_panel.empty()) ui.export_panel = ui.hovered_panel;
         ui.open(Dialog::kExport);
       },
       has_document,
       {}});
  add({"close",
       "Close capture",
       "File",
       chords({"Ctrl+W"}),
       [&w] { w.close_document(w.active()); },
       has_document,
       {}});
  add({"quit", "Quit", "File", chords({"Ctrl+Q"}), [&ui] { ui.quit = true; }, {}, {}, true});

  add({"start", "Start", "Run", chords({"Ctrl+Enter"}), [&w] { w.start(false); }, {}, {}});
  add({"start-run",
       "Start and run",
       "Run",
       chords({"Ctrl+Shift+Enter"}),
       [&w] { w.start(true); },
       {},
       {}});
  add({"run",
       "Run / pause",
       "Run",
       chords({"F5", "Space"}),
       [&w] { w.toggle_run(); },
       {},
       {},
       true});
  add({"step", "Step", "Run", chords({"F10", "Right", "PageDown"}), [&w] { w.step(); }, {}, {}});
  add({"step-phase", "Next phase", "Run", chords({"F11"}), [&w] { w.step_phase(); }, {}, {}});
  add({"run-to-cursor",
       "Run to the cursor, anew",
       "Run",
       chords({"Ctrl+F10"}),
       [&w] { w.run_to_cursor(); },
       [&w] { return w.can_run_to_cursor(); },
       {},
       false,
       "Starts the same run again (settings, seed, prompt) in a capture of its own and stops it at "
       "the cursor; the run shown stays open. At the newest step it is a step."});
  add({"stop",
       "Stop",
       "Run",
       chords({"Shift+F5"}),
       [&w] { w.stop(); },
       [&w] { return w.live_document() && w.live().state != LiveState::kDone; },
       {}});
  add({"restart",
       "Restart",
       "Run",
       chords({"Ctrl+Shift+F5"}),
       [&w] { w.restart(); },
       has_document,
       {}});
  add({"cancel",
       "Cancel loading, prefill or export",
       "Run",
       {},
       [&w] { w.cancel(); },
       [&w] { return w.live().state == LiveState::kLoading || w.exporting(); },
       {}});
  add({"what-if",
       "What if: another token…",
       "Run",
       chords({"Ctrl+I"}),
       [&ui] { ui.open(Dialog::kWhatIf); },
       has_document,
       {},
       true});
  add({"breakpoints",
       "Breakpoints…",
       "Run",
       chords({"F9"}),
       [&ui] { ui.open(Dialog::kBreakpoints); },
       {},
       {}});

  add({"back",
       "Step back",
       "Go",
       chords({"Alt+F10", "Left", "PageUp"}),
       [&w] { w.back(); },
       has_document,
       {}});
  add({"back-phase",
       "Phase back",
       "Go",
       chords({"Alt+F11"}),
       [&w] { w.back_phase(); },
       has_document,
       {}});
  add({"go-start",
       "To the beginning",
       "Go",
       chords({"Home"}),
       [&w] { w.go_to_start(); },
       has_document,
       {}});
  add({"follow", "Back to now", "Go", chords({"End"}), [&w] { w.follow(); }, has_document, {}});
  add({"bookmark",
       "Bookmark",
       "Go",
       chords({"Ctrl+B"}),
       [&ui] { ui.open(Dialog::kBookmark); },
       has_document,
       {},
       true});
  add({"next-bookmark",
       "Next bookmark",
       "Go",
       chords({"Ctrl+Right"}),
       [&w] { w.go_to_bookmark(+1); },
       has_document,
       {}});
  add({"previous-bookmark",
       "Previous bookmark",
       "Go",
       chords({"Ctrl+Left"}),
       [&w] { w.go_to_bookmark(-1); },
       has_document,
       {}});
  add({"release-focus",
       "Let go of the focus",
       "Go",
       {},
       [&w] { w.lock_focus(-1); },
       has_document,
       {}});
  add({"clear-range",
       "Clear the selected range",
       "Go",
       {},
       [&w] { w.active()->range.reset(); },
       [&w] { return w.active() && w.active()->range; },
       {}});

  int number = 1;
  for (const std::string& name : preset_names()) {
    std::string title = "Layout: " + name;
    title[8] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[8])));
    add({"layout-" + name,
         title,
         "View",
         {chord_from_string("Ctrl+" + std::to_string(number++))},
         [&w, name] {
           if (name == "compare") return w.compare(w.partner());
           w.stop_comparing();
           w.layout = preset_layout(name);
           w.layout_name = name;
           w.maximised.clear();
         },
         {},
         [&w, name] { return w.layout_name == name; }});
  }
  add({"compare-with",
       "Compare with…",
       "View",
       chords({"Ctrl+D"}),
       [&ui] { ui.open(Dialog::kCompare); },
       has_document,
       {},
       true,
       "Another run or capture beside this one: one cursor and one focus for both, what differs is "
       "marked ≠."});
  for (const viz::Along along : {viz::Along::kTokens, viz::Along::kSteps, viz::Along::kTime}) {
    const std::string name = viz::to_string(along);
    add({"compare-by-" + name,
         "Compare: one cursor by " + name,
         "View",
         {},
         [&w, along] { w.set_along(along); },
         [&w] { return w.partner() != nullptr; },
         [&w, along] { return w.comparing() && w.along() == along; }});
  }
  add({"go-difference",
       "To the first difference",
       "Go",
       chords({"Ctrl+J"}),
       [&w] {
         if (!w.go_to_difference()) w.say(LogLevel::kInfo, "the two texts are the same so far");
       },
       [&w] { return w.partner() != nullptr; },
       {}});
  add({"maximise",
       "Maximise the pane under the mouse",
       "View",
       chords({"Ctrl+M"}),
       [&w, &ui] { w.maximised = w.maximised.empty() ? ui.hovered_panel : ""; },
       {},
       [&w] { return !w.maximised.empty(); },
       true});
  add({"run-bar",
       "Run bar",
       "View",
       chords({"F2"}),
       [&w, &ui] {
         bool& open = ui.run_bar_open(w.preferences);
         open = !open;
       },
       {},
       [&w, &ui] { return ui.run_bar_open(w.preferences); }});
  add({"theme",
       "Light theme",
       "View",
       chords({"Ctrl+T"}),
       [&w] { w.preferences.dark = !w.preferences.dark; },
       {},
       [&w] { return !w.preferences.dark; }});
  add({"bigger",
       "Bigger text",
       "View",
       chords({"Ctrl+=", "Ctrl+KeypadPlus"}),
       [&w, &ui] { scale_by(w, ui, 1.1f); },
       {},
       {}});
  add({"smaller",
       "Smaller text",
       "View",
       chords({"Ctrl+-", "Ctrl+KeypadMinus"}),
       [&w, &ui] { scale_by(w, ui, 1 / 1.1f); },
       {},
       {}});
  add({"normal-size",
       "Normal text",
       "View",
       chords({"Ctrl+0"}),
       [&w, &ui] {
         w.preferences.user_scale = 1;
         ui.rebuild_fonts = true;
       },
       {},
       {}});
  add({"messages", "Messages…", "View", {}, [&ui] { ui.open(Dialog::kMessages); }, {}, {}});

  add({"palette",
       "All commands…",
       "Help",
       chords({"Ctrl+Shift+P"}),
       [&ui] { ui.open(Dialog::kPalette); },
       {},
       {}});
  add({"keys",
       "Keys…",
       "Help",
       chords({"Shift+/", "F1"}),
       [&ui] { ui.open(Dialog::kKeys); },
       {},
       {}});
  add({"about", "About triescope…", "Help", {}, [&ui] { ui.open(Dialog::kAbout); }, {}, {}});
}

const Command* CommandTable::find(const std::string& id) const {
  for (const Command& command : commands_)
    if (command.id == id) return &command;
  return nullptr;
}

const Command* CommandTable::find(Chord chord) const {
  for (const Command& command : commands_)
    if (std::find(command.chords.begin(), command.chords.end(), chord) != command.chords.end())
      return &command;
  return nullptr;
}

}  // namespace triescope::app
