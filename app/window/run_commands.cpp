#include <algorithm>

#include "app/window/command_parts.h"

namespace triescope::app {

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

}  // namespace triescope::app
