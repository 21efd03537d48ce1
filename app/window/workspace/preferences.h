// Preferences: what the window remembers between two starts: layout, theme, text size, the run that
// was set up. One JSON file, $XDG_CONFIG_HOME/triescope/window.json, written atomically. A damaged
// file is renamed to window.json.bad, with a warning.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "app/session/request.h"
#include "viz/draw/theme.h"

namespace triescope::app {

// A capture that was opened or saved, or a run that the window recorded by itself.
struct RecentCapture {
  std::string path, method, recorded;  // "Trie beam search", "2026-01-02 03:04"; "" = not known
  std::string prompt;                  // its beginning, on one line; "" = not known
};

// Where the window stands, in screen coordinates.
struct WindowPlace {
  int width = 1280, height = 720;
  int x = 0, y = 0;
  bool has_position = false, maximised = false;
  bool operator==(const WindowPlace&) const = default;
};

struct Preferences {
  viz::ThemeName theme = viz::ThemeName::kDark, lecture_theme = viz::ThemeName::kProjector;
  bool lecture_full_screen = false;  // entering lecture mode takes the full screen
  float user_scale = 1;              // on top of the monitor's: larger type for presenting
  bool run_bar_open = true;
  double play_speed = 1;                              // of playback, as a multiple of its own pace
  bool compare_own_scales = false;                    // of two runs beside each other
  nlohmann::json layout;                              // pane_docking.h; null = the debug preset
  std::string layout_name = "debug";                  // the one it came from
  nlohmann::json layouts = nlohmann::json::object();  // one's own, by name
  // Of a layout's panes, which panels were in front when it was left (pane_docking.h); by its name.
  std::map<std::string, std::vector<std::string>> layout_tabs;
  nlohmann::json view_states = nlohmann::json::object();  // panel name -> its view state
  RunRequest request;
  std::vector<RecentCapture> recent_captures;  // newest first, at most 10
  std::vector<RecentCapture> recent_runs;      // recorded in new_run_path(); likewise
  WindowPlace window;
  static constexpr float kLeastPromptEm = 2.4f, kMostPromptEm = 60;
  std::string export_folder;               // of the file exported last; "" = none yet
  float prompt_em = 5.2f;                  // height of the prompt's field: four lines
  std::set<std::string> finished_lessons;  // by name, "03-beam-search-is-a-trie"
};

// Puts it first, once, and keeps the list short.
void remember_capture(std::vector<RecentCapture>& recent, RecentCapture capture);

// Missing file: defaults. `warning` is set if there was one that could not be read.
Preferences load_preferences(std::string& warning);
// Errors are returned as text ("" = written): a full disk must not end the program.
std::string save_preferences(const Preferences& preferences);

// Where runs of the window are recorded unless the user says otherwise:
// $XDG_CACHE_HOME/triescope/runs (made if missing). Another one at every call. At most the newest 50 captures are kept there.
// Error{kIoError}.
std::string new_run_path();

}  // namespace triescope::app
