// Preferences: what the window remembers between two starts: layout, theme, text size, the run that
// was set up. They lie in one JSON file, $XDG_CONFIG_HOME/triescope/window.json, written
// atomically. A damaged file is renamed to window.json.bad, with a warning.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "app/session/request.h"
#include "viz/draw/theme.h"

namespace triescope::app {

// A capture that was opened or saved, or a run that the window recorded.
struct RecentCapture {
  std::string path, method, recorded;  // "Trie beam search", "2026-01-02 03:04"; "" = not known
  std::string prompt;                  // the beginning, on one line; "" = not known
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
  bool lecture_full_screen = false;  // lecture mode takes the full screen on entering
  float user_scale = 1;              // times the monitor's scale: larger type for presenting
  bool run_bar_open = true;
  double play_speed = 1;                              // of playback; 1 = its normal pace
  bool compare_own_scales = false;                    // compared runs: each to its own scales
  nlohmann::json layout;                              // pane_docking.h; null = the debug preset
  std::string layout_name = "debug";                  // the layout that `layout` came from
  nlohmann::json layouts = nlohmann::json::object();  // the user's own, by name
  // The panels that were in front when a layout was left (pane_docking.h), by the layout's name.
  std::map<std::string, std::vector<std::string>> layout_tabs;
  nlohmann::json view_states = nlohmann::json::object();  // panel name -> its view state
  RunRequest request;
  std::vector<RecentCapture> recent_captures;  // newest first, at most 10
  std::vector<RecentCapture> recent_runs;      // in new_run_path(); newest first, at most 10
  WindowPlace window;
  static constexpr float kLeastPromptEm = 2.4f, kMostPromptEm = 60;
  std::string export_folder;               // of the last export; "" = none yet
  float prompt_em = 5.2f;                  // height of the prompt's field: four lines
  std::vector<std::string> recent_hosts;   // that decoded, newest first, at most 8
  std::set<std::string> finished_lessons;  // by name, "03-beam-search-is-a-trie"
};

// Puts `capture` first, without a second entry of its path, and shortens the list to its limit.
void remember_capture(std::vector<RecentCapture>& recent, RecentCapture capture);

// Defaults where the file is missing. Sets `warning` where a file exists that cannot be read.
Preferences load_preferences(std::string& warning);
// Returns errors as text ("" = written): a full disk must not end the program.
std::string save_preferences(const Preferences& preferences);

// A new path for each run that the window records, unless the user names one: in
// $XDG_CACHE_HOME/triescope/runs, which is made if missing. Only the newest 50 captures are kept
// there. Error{kIoError}.
std::string new_run_path();

}  // namespace triescope::app
