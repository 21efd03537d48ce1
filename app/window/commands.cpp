#include "app/window/commands.h"

#include <algorithm>
#include <cctype>

#include "app/window/command_parts.h"
#include "viz/query/kv_levels.h"

namespace triescope::app {
namespace {

std::function<bool()> has_partner(const Workspace& w) {
  return [&w] { return w.comparison.partner() != nullptr; };
}

Commands file_commands(Workspace& w, UiState& ui) {
  return {
      {.id = "open",
       .title = "Open capture or model…",
       .menu = "File",
       .chords = chords({"Ctrl+O"}),
       .run = opens(ui, Dialog::kOpen),
       .keywords = "load file"},
      {.id = "save-as",
       .title = "Save capture as…",
       .menu = "File",
       .chords = chords({"Ctrl+S"}),
       .run = opens(ui, Dialog::kSaveAs),
       .enabled = has_document(w),
       .keywords = "export copy file"},
      {.id = "export",
       .title = "Export a panel…",
       .menu = "File",
       .chords = chords({"Ctrl+E"}),
       .run =
           [&ui] {
             if (!ui.hovered_panel.empty()) ui.export_panel = ui.hovered_panel;
             ui.open(Dialog::kExport);
           },
       .enabled = has_document(w),
       .keywords = "picture figure image svg pdf png csv"},
      {.id = "save-picture",
       .title = "Save a picture of the panel under the mouse…",
       .menu = "File",
       .chords = chords({"Ctrl+Shift+E"}),
       .run = [&ui] { ui.open_picture(ui.panel_meant()); },
       .enabled = has_document(w),
       .help = "As a PNG; asks where, and proposes the folder of the last export. From a menu: the "
               "panel the mouse was over last.",
       .keywords = "export png image screenshot figure"},
      {.id = "save-handout",
       .title = "Save the run as a handout…",
       .menu = "File",
       .run =
           [&ui] {
             ui.save_run = WholeRun::kHandout;
             ui.open(Dialog::kSaveRun);
           },
       .enabled = has_document(w),
       .help = "As one HTML page, for any browser and without a network. A range of steps dragged "
               "on the timeline limits it.",
       .keywords = "export html page web browser share"},
      {.id = "save-data",
       .title = "Save the run as data…",
       .menu = "File",
       .run =
           [&ui] {
             ui.save_run = WholeRun::kData;
             ui.open(Dialog::kSaveRun);
           },
       .enabled = has_document(w),
       .help = "As JSON lines, a line a step, for a notebook: drafts with p, q, score and verdict, "
               "memory, times. A range of steps dragged on the timeline limits it.",
       .keywords = "export json jsonl notebook pandas csv table"},
      {.id = "connect",
       .title = "Connect…",
       .menu = "File",
       .run = opens(ui, Dialog::kConnect),
       .separator_before = true,
       .help = "Decode on another machine, over ssh, and see the run here.",
       .keywords = "remote ssh server gpu host machine attach watch"},
      {.id = "reconnect",
       .title = "Reconnect",
       .menu = "File",
       .run = [&w] { w.run.host().reconnect(); },
       .enabled = [&w] { return !w.run.host().line().lost.empty(); },
       .help = "Opens the line to the other machine again. The run there has gone on.",
       .keywords = "remote line broken"},
      {.id = "close",
       .title = "Close capture",
       .menu = "File",
       .chords = chords({"Ctrl+W"}),
       .run = [&w] { w.run.close(w.active()); },
       .enabled = has_document(w)},
      {.id = "quit",
       .title = "Quit",
       .menu = "File",
       .chords = chords({"Ctrl+Q"}),
       .run = [&ui] { ui.quit = true; },
       .separator_before = true},
  };
}

Commands run_commands(Workspace& w, UiState& ui) {
  return {
      {.id = "start",
       .title = "Start",
       .menu = "Run",
       .chords = chords({"Ctrl+Enter"}),
       .run = [&w] { w.run.start(false); },
       .help = "Begins a new run with what the run bar holds, loads its model if needed, and waits "
               "before the first step, so that you can step through it.",
       .keywords = "new run decode begin"},
      {.id = "start-run",
       .title = "Start and run",
       .menu = "Run",
       .chords = chords({"Ctrl+Shift+Enter"}),
       .run = [&w] { w.run.start(true); },
       .help = "Begins a new run with what the run bar holds and decodes to its end, or to a "
               "breakpoint."},
      {.id = "run",
       .title = "Run / pause",
       .menu = "Run",
       .chords = chords({"F5", "Space"}),
       .run = [&w] { w.transport.toggle_run(); },
       .separator_before = true,
       .help =
           "Decodes on to the end of the run shown, or to a breakpoint; again: pauses. A run that "
           "has ended is played back from its capture, to a breakpoint too.",
       .keywords = "play continue resume"},
      {.id = "play-slower",
       .title = "Play slower",
       .menu = "Run",
       .run = [&w] { w.transport.change_play_speed(-1); },
       .enabled = [&w] { return w.preferences.play_speed > play_speeds().front(); },
       .help = "How fast a recorded run is played back: 0.25 to 8 times its usual pace."},
      {.id = "play-faster",
       .title = "Play faster",
       .menu = "Run",
       .run = [&w] { w.transport.change_play_speed(+1); },
       .enabled = [&w] { return w.preferences.play_speed < play_speeds().back(); },
       .help = "How fast a recorded run is played back: 0.25 to 8 times its usual pace."},
      {.id = "step",
       .title = "Step",
       .menu = "Run",
       .chords = chords({"F10", "Right", "PageDown"}),
       .run = [&w] { w.transport.step(); },
       .enabled = [&w] { return w.transport.can_step(); },
       .help = "One step: draft, forward, accept, commit, observe. In the past it shows the next "
               "recorded step; at the newest one the model decodes another.",
       .keywords = "next forward"},
      {.id = "step-phase",
       .title = "Next phase",
       .menu = "Run",
       .chords = chords({"F11"}),
       .run = [&w] { w.transport.step_phase(); },
       .enabled = [&w] { return w.transport.can_step(); },
       .help = "One of a step's five phases: draft, forward, accept, commit, observe."},
      {.id = "run-to-cursor",
       .title = "Re-run to cursor",
       .menu = "Run",
       .chords = chords({"Ctrl+F10"}),
       .run = [&w] { w.transport.run_to_cursor(); },
       .enabled = [&w] { return w.transport.can_run_to_cursor(); },
       .help =
           "Starts the same run again (settings, seed, prompt) in a capture of its own and stops "
           "it at the cursor; the run shown stays open. At the newest step it takes one step."},
      {.id = "stop",
       .title = "Stop",
       .menu = "Run",
       .chords = chords({"Shift+F5"}),
       .run = [&w] { w.run.stop(); },
       .enabled = [&w] { return w.documents.live() && w.live().state != LiveState::kDone; },
       .help = "Ends the run for good. What was decoded stays and can be looked at.",
       .keywords = "end abort"},
      {.id = "restart",
       .title = "Restart",
       .menu = "Run",
       .chords = chords({"Ctrl+Shift+F5"}),
       .run = [&w] { w.transport.restart(); },
       .enabled = has_document(w),
       .help =
           "Begins the run shown once more, with its own settings, prompt and seed, whatever the "
           "run bar holds. A capture from a file goes back to its start.",
       .keywords = "again rerun reset"},
      {.id = "measure-again",
       .title = "Measure again without drawing",
       .menu = "Run",
       .run = [&w] { w.measure_again(); },
       .enabled = [&w] { return w.can_measure_again(); },
       .help =
           "Decodes the run shown once more while the window draws nothing but how far it is, and "
           "puts it beside this one: its times are the method's alone."},
      {.id = "take-run",
       .title = "Take the shown run's settings into the run bar",
       .menu = "Run",
       .chords = chords({"Ctrl+G"}),
       .run = [&w] { w.run.take_run(); },
       .enabled = [&w] { return w.run.can_take_run(); },
       .help = "Model, device, dtype, method and its settings, prompt, limit and seed."},
      {.id = "cancel",
       .title = "Cancel loading, prefill or export",
       .menu = "Run",
       .run = [&w] { w.cancel(); },
       .enabled = [&w] { return w.live().state == LiveState::kLoading || w.exports.under_way(); }},
      {.id = "what-if",
       .title = "What if: another token…",
       .menu = "Run",
       .chords = chords({"Ctrl+I"}),
       .run = opens(ui, Dialog::kWhatIf),
       .enabled = has_document(w),
       .separator_before = true,
       .help = "Decodes on from the focused node with a token of your choice in place of what "
               "followed, as a run of its own beside this one.",
       .keywords = "branch alternative token force"},
      {.id = "compare-origin",
       .title = "Compare a branch with its origin",
       .menu = "Run",
       .run = [&w] { w.run.compare_with_origin(); },
       .enabled = [&w] { return w.active() && w.documents.origin_of(*w.active()); }},
      {.id = "breakpoints",
       .title = "Breakpoints…",
       .menu = "Run",
       .chords = chords({"F9"}),
       .run = opens(ui, Dialog::kBreakpoints),
       .help = "Where a run stops by itself: a rejection, a text, an entropy, a step, …",
       .keywords = "condition pause stop when"},
      {.id = "next-match",
       .title = "Next match of a breakpoint",
       .menu = "Run",
       .chords = chords({"F4"}),
       .run = [&w] { w.transport.go_to_match(+1); },
       .enabled = has_document(w),
       .help = "To the next recorded place where a breakpoint stops a run. Nothing is decoded.",
       .keywords = "breakpoint forward find search"},
      {.id = "previous-match",
       .title = "Previous match of a breakpoint",
       .menu = "Run",
       .chords = chords({"Shift+F4"}),
       .run = [&w] { w.transport.go_to_match(-1); },
       .enabled = has_document(w),
       .help = "The same backwards.",
       .keywords = "breakpoint backwards find search"},
  };
}

// A command for each speed of playback, only for palette and scripts.
Commands play_speed_commands(Workspace& w) {
  Commands rows;
  for (const double speed : play_speeds()) {
    const std::string text = play_speed_text(speed);
    rows.push_back({.id = "play-speed-" + text.substr(0, text.find("×")),
                    .title = "Speed of playback: " + text,
                    .run = [&w, speed] { w.transport.set_play_speed(speed); },
                    .checked = [&w, speed] { return w.preferences.play_speed == speed; }});
  }
  return rows;
}

// A command for each kind of breakpoint adds one and opens the list at its field; only for palette
// and scripts.
Commands breakpoint_commands(UiState& ui) {
  Commands rows;
  for (const BreakKind kind : all_break_kinds()) {
    std::string id = std::string("break-") + script_name(kind);
    std::ranges::replace(id, '_', '-');
    rows.push_back({.id = std::move(id),
                    .title = "Breakpoint: " + break_words(kind) +
                             (needs_text(kind) || needs_threshold(kind) ? "…" : ""),
                    .run = [&ui, kind] {
                      ui.dialogs.breakpoints.add = kind;
                      ui.open(Dialog::kBreakpoints);
                    }});
  }
  return rows;
}

Commands go_commands(Workspace& w, UiState& ui) {
  return {
      {.id = "back",
       .title = "Step back",
       .menu = "Go",
       .chords = chords({"Alt+F10", "Left", "PageUp"}),
       .run = [&w] { w.transport.back(); },
       .enabled = has_document(w),
       .help = "Shows the step before. Nothing is decoded again."},
      {.id = "back-phase",
       .title = "Phase back",
       .menu = "Go",
       .chords = chords({"Alt+F11"}),
       .run = [&w] { w.transport.back_phase(); },
       .enabled = has_document(w)},
      {.id = "go-start",
       .title = "Go to start",
       .menu = "Go",
       .chords = chords({"Home"}),
       .run = [&w] { w.transport.go_to_start(); },
       .enabled = has_document(w)},
      {.id = "follow",
       .title = "Back to now",
       .menu = "Go",
       .chords = chords({"End"}),
       .run = [&w] { w.documents.follow(); },
       .enabled = has_document(w),
       .help = "To the newest step, and on with it while the run goes on."},
      {.id = "go-to-peak",
       .title = "Go to the peak of KV memory",
       .menu = "Go",
       .chords = chords({"P"}),
       .run =
           [&w] {
             Document& document = *w.active();
             if (const auto peak = viz::kv_peak(*document.capture, document.capture->end_tick(),
                                                capture::Whose::kTarget, document.range))
               w.documents.set_cursor_of(document, peak->tick + 1);
           },
       .enabled =
           [&w] {
             return w.active() && !w.active()->capture->kv_levels(capture::Whose::kTarget).empty();
           },
       .help =
           "The phase after which the target held the most KV slots at once, in the whole run or "
           "in the range.",
       .keywords = "most slots maximum highest"},
      {.id = "find",
       .title = "Find in the run…",
       .menu = "Go",
       .chords = chords({"Ctrl+F"}),
       .run = [&ui] { ui.find.open = ui.find.just_opened = true; },
       .enabled = has_document(w),
       .separator_before = true,
       .help = "A token or text, in what was decoded and in the drafts. Enter: the next one; "
               "Shift+Enter: the one before; Esc closes.",
       .keywords = "search text token"},
      {.id = "find-next",
       .title = "Find: next",
       .run = [&w, &ui] { ui.find.go(w, +1); },
       .enabled = [&w, &ui] { return w.active() && !ui.find.query.empty(); },
       .help = "Enter, in the field of the search."},
      {.id = "find-previous",
       .title = "Find: previous",
       .run = [&w, &ui] { ui.find.go(w, -1); },
       .enabled = [&w, &ui] { return w.active() && !ui.find.query.empty(); },
       .help = "Shift+Enter, in the field of the search."},
      {.id = "bookmark",
       .title = "Bookmark",
       .menu = "Go",
       .chords = chords({"Ctrl+B"}),
       .run = opens(ui, Dialog::kBookmark),
       .enabled = has_document(w),
       .separator_before = true,
       .keywords = "mark note remember"},
      {.id = "next-bookmark",
       .title = "Next bookmark",
       .menu = "Go",
       .chords = chords({"Ctrl+Right"}),
       .run = [&w] { w.documents.go_to_bookmark(+1); },
       .enabled = has_document(w)},
      {.id = "previous-bookmark",
       .title = "Previous bookmark",
       .menu = "Go",
       .chords = chords({"Ctrl+Left"}),
       .run = [&w] { w.documents.go_to_bookmark(-1); },
       .enabled = has_document(w)},
      {.id = "release-focus",
       .title = "Clear focus",
       .menu = "Go",
       .run = [&w] { w.comparison.lock_focus(-1); },
       .enabled = has_document(w),
       .keywords = "deselect unlock"},
      {.id = "range-from",
       .title = "Range: from this step",
       .menu = "Go",
       .chords = chords({"Shift+Home"}),
       .run = [&w] { w.comparison.end_range(/*first=*/true); },
       .enabled = has_document(w),
       .help = "Or drag over the timeline. What is exported and measured is limited to the range."},
      {.id = "range-to",
       .title = "Range: to this step",
       .menu = "Go",
       .chords = chords({"Shift+End"}),
       .run = [&w] { w.comparison.end_range(/*first=*/false); },
       .enabled = has_document(w)},
      {.id = "clear-range",
       .title = "Clear range",
       .menu = "Go",
       .run = [&w] { w.comparison.set_range_of(*w.active(), std::nullopt); },
       .enabled = [&w] { return w.active() && w.active()->range; }},
  };
}

Commands layout_commands(Workspace& w, UiState& ui) {
  constexpr int kKeys = 9;  // Ctrl+1 to Ctrl+9
  Commands rows;
  int next_key = 1;
  for (const std::string& name : w.layouts.names()) {
    std::string title = "Layout: " + name;
    const bool preset = rows.size() < preset_names().size();
    if (preset) title[8] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[8])));
    std::vector<Chord> keys;
    // "learn" has no key: one begins there, and the keys are for layouts that one switches between.
    if (name != "learn" && next_key <= kKeys)
      keys.push_back(chord_from_string("Ctrl+" + std::to_string(next_key++)));
    rows.push_back(
        {.id = "layout-" + name,
         .title = title,
         .menu = "View",
         .chords = std::move(keys),
         .run = [&w, name] { w.go_to_layout(name); },
         .checked = [&w, name] { return w.layouts.name == name; },
         .help = "With the tabs that were in front when it was left; once more: as it was made."});
  }
  rows.push_back({.id = "layouts",
                  .title = "Save layout, choose layout…",
                  .menu = "View",
                  .chords = chords({"Ctrl+L"}),
                  .run = opens(ui, Dialog::kLayouts)});
  rows.push_back(
      {.id = "undock",
       .title = "Panel under the mouse into a window of its own",
       .menu = "View",
       .chords = chords({"Ctrl+U"}),
       .run =
           [&w, &ui] {
             ui.undock = ui.hovered_panel.empty() ? ui.last_panel : ui.hovered_panel;
             if (ui.undock.empty())
               w.say(LogLevel::kInfo,
                     "put the mouse over a panel and press Ctrl+U, or drag its tab");
           },
       .enabled = has_document(w),
       .help = "Or drag its tab out of the panes. Closing that window brings the panel back."});
  return rows;
}

Commands compare_commands(Workspace& w, UiState& ui) {
  Commands rows = {{.id = "compare-with",
                    .title = "Compare with…",
                    .menu = "View",
                    .chords = chords({"Ctrl+D"}),
                    .run = opens(ui, Dialog::kCompare),
                    .enabled = has_document(w),
                    .separator_before = true,
                    .help =
                        "Puts another run or capture beside this one. They share one cursor and "
                        "one focus; differences are marked ≠.",
                    .keywords = "side by side diff"}};
  for (const viz::Along along : viz::all_alongs()) {
    const std::string name = viz::to_string(along);
    rows.push_back(
        {.id = "compare-by-" + name,
         .title = "Compare: align cursors by " + name,
         .menu = "View",
         .run = [&w, along] { w.comparison.set_along(along); },
         .enabled = has_partner(w),
         .checked = [&w, along] { return w.comparison.is_on() && w.comparison.along() == along; }});
  }
  rows.push_back(
      {.id = "compare-own-scales",
       .title = "Compare: each run with axes of its own",
       .menu = "View",
       .run = [&w] { w.preferences.compare_own_scales = !w.comparison.own_scales(); },
       .enabled = has_partner(w),
       .checked = [&w] { return w.comparison.own_scales(); },
       .help = "Else the charts of both have the same axes, so that what is longer looks longer."});
  rows.push_back({.id = "go-difference",
                  .title = "Go to first difference",
                  .menu = "Go",
                  .chords = chords({"Ctrl+J"}),
                  .run =
                      [&w] {
                        if (!w.comparison.go_to_difference())
                          w.say(LogLevel::kInfo, "the two texts are the same so far");
                      },
                  .enabled = has_partner(w)});
  rows.push_back(
      {.id = "next-difference",
       .title = "Go to next difference",
       .menu = "Go",
       .chords = chords({"Ctrl+Shift+J"}),
       .run =
           [&w] {
             if (!w.comparison.go_to_next_difference())
               w.say(LogLevel::kInfo, "the two texts differ no further on");
           },
       .enabled = has_partner(w),
       .help = "The next place where the two texts part, after they have agreed again."});
  return rows;
}

Commands help_commands(UiState& ui) {
  return {
      {.id = "palette",
       .title = "All commands…",
       .menu = "Help",
       .chords = chords({"Ctrl+Shift+P"}),
       .run = opens(ui, Dialog::kPalette)},
      {.id = "keys",
       .title = "Keys…",
       .menu = "Help",
       .chords = chords({"Shift+/", "F1"}),
       .run = opens(ui, Dialog::kKeys),
       .keywords = "shortcuts keyboard help bindings"},
      {.id = "glossary",
       .title = "Glossary…",
       .menu = "Help",
       .chords = chords({"Shift+F1"}),
       .run = opens(ui, Dialog::kGlossary),
       .help =
           "What every term of panels, legends and column heads means; with the mouse over one, "
           "that one.",
       .keywords = "terms words definitions help meaning explain"},
      {.id = "about",
       .title = "About triescope…",
       .menu = "Help",
       .run = opens(ui, Dialog::kAbout),
       .keywords = "version licence"},
  };
}

}  // namespace

CommandTable::CommandTable(Workspace& w, UiState& ui) { update(w, ui); }

void CommandTable::update(Workspace& w, UiState& ui) {
  if (!commands_.empty() && own_layouts_ == w.layouts.own_names()) return;
  own_layouts_ = w.layouts.own_names();
  commands_.clear();
  for (const Commands& group :
       {file_commands(w, ui), run_commands(w, ui), breakpoint_commands(ui), play_speed_commands(w),
        go_commands(w, ui), layout_commands(w, ui), compare_commands(w, ui), view_commands(w, ui),
        panel_commands(w, ui), help_commands(ui), lesson_commands(w, ui), lecture_commands(w, ui)})
    commands_.insert(commands_.end(), group.begin(), group.end());
}

const Command* CommandTable::find_in_lecture(Chord chord) const {
  for (const Command& command : commands_)
    if (std::ranges::count(command.lecture_chords, chord) > 0) return &command;
  const Command* const command = find(chord);
  return command && has_keys_in_lecture(*command) ? command : nullptr;
}

}  // namespace triescope::app
