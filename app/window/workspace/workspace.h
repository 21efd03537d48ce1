// Workspace: everything the window shows and can do, without drawing. Its parts know only those
// above them: Documents, Layouts, Comparison, LiveRun, Transport, Exports, then lecture mode and
// the open lesson. Work that takes several parts stands here. The command table, the script and the
// drawing code act through it alone. Not thread-safe: the window thread owns it; it reaches the
// decoder through a RunHost.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/session/prompt_counter.h"
#include "app/window/workspace/connection.h"
#include "app/window/workspace/exports.h"
#include "app/window/workspace/host_answers.h"
#include "app/window/workspace/lecture_mode.h"
#include "app/window/workspace/lesson_player.h"
#include "app/window/workspace/runs_view.h"
#include "app/window/workspace/transport.h"

namespace triescope::app {

class Workspace {
 public:
  // `wake` makes the window thread look again; other threads call it. The run is decoded in this
  // process, or wherever `host` decodes it; `host` calls `wake` after every new snapshot.
  Workspace(Preferences preferences, std::function<void()> wake);
  Workspace(Preferences preferences, std::function<void()> wake, std::unique_ptr<RunHost> host);

  // Takes in what other threads did since the last call. `seconds` is a steady clock. True if
  // anything changed.
  bool update(double seconds);

  Preferences preferences;
  bool animate = true;
  Messages log;
  Layouts layouts{preferences, log};
  Documents documents{preferences, log};
  Comparison comparison{documents, layouts, preferences};
  LiveRun run;
  // Counts the present prompt's tokens, while the run bar is drawn. It ends after the answers, which
  // let it wait for no line.
  PromptCounter prompt_counter;
  HostAnswers answers;
  Connection connection;
  Transport transport{documents, comparison, run, preferences, log};
  Exports exports;
  RunsView runs{documents, comparison, log};
  LectureMode lecture{documents, comparison, transport};
  LessonPlayer lesson;

  Document* active() const { return documents.active(); }
  const LiveStatus& live() const { return run.status(); }
  RunRequest& request() { return preferences.request; }
  void say(LogLevel level, const std::string& text) { log.say(level, text); }
  // The status line's text: Messages::newest() for the document shown.
  std::string newest_message() const { return log.newest(active() ? active()->serial : 0); }

  // --- what is shown ---
  // Arranges the panels as the layout was made. Any layout but compare ends a comparison. Errors:
  // Layouts::use()'s.
  void use_layout(const std::string& name);
  // Switches to a layout with the panels in front that were there when it was left. Choosing the
  // present one again shows it as it was made.
  void go_to_layout(const std::string& name);
  // Shows one to three panels large, the first on top.
  void show_panels(const std::vector<std::string>& panels);
  // Brings a panel to the front of its pane, or into lecture mode. False: the layout lacks it.
  bool show_panel(const std::string& panel);
  // Shows a panel in the window as it is, in place of a maximised one.
  void go_to_panel(const std::string& panel);
  // The window's theme, or lecture mode's while that is on; each is remembered.
  viz::ThemeName theme() const;
  void set_theme(viz::ThemeName theme);
  // Shows the panels that an open lesson asked for last, else those that suit the method.
  void enter_lecture();

  // --- what is opened; errors become problems ---
  // Opens a capture, a lesson or a study's folder, loads a model, or reads a prompt (.txt), a
  // conversation or tools (.json) or a chat template (.jinja).
  void open_path(const std::string& path);
  void open_lesson(const std::string& path_or_name);
  void open_study(const std::string& folder);
  void read_prompt(const std::string& path);  // fills the run bar's prompt from a file

  // --- what is under way ---
  void cancel();  // loading, prefill or an export
  void measure_again();
  bool can_measure_again() const { return !lecture.is_on() && run.can_measure_again(); }
  // True if no command waits and there is no run and no export.
  bool idle() const;
  // Seconds until the replay, or an open lesson's file, is to be looked at again; negative = never.
  double seconds_to_next_play(double seconds) const;

  nlohmann::json state_json(const std::vector<std::string>& visible_panels) const;
  void remember();  // writes the preferences
};

}  // namespace triescope::app
