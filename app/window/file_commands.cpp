#include "app/window/command_parts.h"

namespace triescope::app {

Commands file_commands(Workspace& w, UiState& ui) {
  return {
      {.id = "open",
       .title = "Open capture or model…",
       .menu = "File",
       .chords = chords({"Ctrl+O"}),
       .run = opens(ui, Dialog::kOpen),
       .keywords = "load file"},
      {.id = "runs-table",
       .title = "Table of runs",
       .menu = "File",
       .chords = chords({"Ctrl+R"}),
       .run =
           [&w] {
             if (w.runs.is_open()) return w.runs.close();
             if (w.runs.folder().empty()) return w.runs.show_open_runs();
             w.open_study(w.runs.folder());  // what is wrong with it becomes a problem
           },
       .checked = [&w] { return w.runs.is_open(); },
       .help = "The runs of the study that was opened last, or those that are open in the window: "
               "filter, group, sort, compare, save.",
       .keywords = "study results summary compare csv latex"},
      {.id = "open-runs",
       .title = "Table of the runs open in this window",
       .menu = "File",
       .run = [&w] { w.runs.show_open_runs(); },
       .enabled = has_document(w),
       .keywords = "results summary compare csv latex"},
      {.id = "study-acceptance",
       .title = "Acceptance of the study",
       .menu = "File",
       .run =
           [&w] {
             if (!w.runs.is_open()) w.open_study(w.runs.folder());
             if (w.runs.is_open()) w.runs.show_sheet(RunsSheet::kAcceptance);
           },
       .enabled = [&w] { return !w.runs.folder().empty(); },
       .help =
           "Where the drafts of the runs were accepted, by method: of the study that was opened last.",
       .keywords = "study results bars depth rank drafts"},
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
      {.id = "decode-here",
       .title = "Back to this machine",
       .menu = "File",
       .run = [&w] { w.connection.come_back(); },
       .enabled = [&w] { return w.connection.is_away(); },
       .help = "Decode on this machine again. The session on the other one ends; what it recorded "
               "stays.",
       .keywords = "disconnect remote local host"},
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

}  // namespace triescope::app
