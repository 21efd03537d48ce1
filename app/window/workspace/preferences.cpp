#include "app/window/workspace/preferences.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

#include "app/session/folders.h"
#include "app/window/workspace/user_scale.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/files/json.h"
#include "core/text/tokenizer/conversation.h"
#include "viz/export/whole_file.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kKeptRuns = 50, kMaxRecent = 10;

fs::path preferences_path() { return config_folder() / "window.json"; }

std::vector<RecentCapture> read_recent(const json& list) {
  std::vector<RecentCapture> recent;
  for (const json& entry : list) {
    // Earlier versions wrote only paths.
    if (entry.is_string())
      recent.push_back({entry.get<std::string>(), "", "", ""});
    else
      recent.push_back({entry.value("path", ""), entry.value("method", ""),
                        entry.value("recorded", ""), entry.value("prompt", "")});
  }
  return recent;
}

json to_json(const std::vector<RecentCapture>& recent) {
  json list = json::array();
  for (const RecentCapture& one : recent)
    list.push_back({{"path", one.path},
                    {"method", one.method},
                    {"recorded", one.recorded},
                    {"prompt", one.prompt}});
  return list;
}

WindowPlace read_place(const json& window) {
  WindowPlace place;
  place.width = std::clamp(window.value("width", place.width), 64, 32768);
  place.height = std::clamp(window.value("height", place.height), 64, 32768);
  place.has_position = window.contains("x") && window.contains("y");
  place.x = window.value("x", 0);
  place.y = window.value("y", 0);
  place.maximised = window.value("maximised", false);
  return place;
}

json to_json(const WindowPlace& place) {
  json window = {{"width", place.width}, {"height", place.height}, {"maximised", place.maximised}};
  if (place.has_position) window.update({{"x", place.x}, {"y", place.y}});
  return window;
}

}  // namespace

void remember_capture(std::vector<RecentCapture>& recent, RecentCapture capture) {
  std::erase_if(recent, [&](const RecentCapture& one) { return one.path == capture.path; });
  recent.insert(recent.begin(), std::move(capture));
  if (recent.size() > kMaxRecent) recent.resize(kMaxRecent);
}

Preferences load_preferences(std::string& warning) {
  Preferences preferences;
  const fs::path path = preferences_path();
  std::ifstream file(path);
  if (!file) return preferences;
  try {
    const json all = json::parse(file);
    // Earlier versions wrote only whether the theme is dark.
    preferences.theme = viz::theme_name_from_string(
        all.value("theme", std::string(all.value("dark", true) ? "dark" : "light")));
    preferences.lecture_theme =
        viz::theme_name_from_string(all.value("lecture_theme", std::string("projector")));
    preferences.lecture_full_screen = all.value("lecture_full_screen", false);
    preferences.user_scale =
        std::clamp(all.value("user_scale", 1.0f), kLeastUserScale, kMostUserScale);
    preferences.run_bar_open = all.value("run_bar_open", true);
    preferences.play_speed = std::clamp(all.value("play_speed", 1.0), 0.25, 8.0);
    preferences.compare_own_scales = all.value("compare_own_scales", false);
    preferences.layout = all.value("layout", json());
    preferences.layout_name = all.value("layout_name", "");
    preferences.layouts = all.value("layouts", json::object());
    preferences.layout_tabs = all.value("layout_tabs", decltype(preferences.layout_tabs)());
    preferences.view_states = all.value("view_states", json::object());
    preferences.recent_captures = read_recent(all.value("recent_captures", json::array()));
    preferences.recent_runs = read_recent(all.value("recent_runs", json::array()));
    // The window deletes its older runs (new_run_path()).
    std::erase_if(preferences.recent_runs, [](const RecentCapture& one) {
      std::error_code ignored;
      return !fs::exists(one.path, ignored);
    });
    preferences.prompt_em = std::clamp(all.value("prompt_em", preferences.prompt_em),
                                       Preferences::kLeastPromptEm, Preferences::kMostPromptEm);
    preferences.export_folder = all.value("export_folder", "");
    preferences.window = read_place(all.value("window", json::object()));
    preferences.recent_hosts = all.value("recent_hosts", std::vector<std::string>());
    preferences.finished_lessons = all.value("finished_lessons", std::set<std::string>());
    const json run = all.value("run", json::object());
    RunRequest& request = preferences.request;
    request.model = run.value("model", "");
    request.draft_model = run.value("draft_model", "");
    request.draft_device = run.value("draft_device", "");
    request.device = run.value("device", "cpu");
    request.dtype = dtype_from_string(run.value("dtype", "f32"));
    if (const std::string kv = run.value("kv_dtype", ""); !kv.empty())
      request.kv_dtype = dtype_from_string(kv);
    request.method = run.value("method", "beam");
    request.settings = run.value("settings", json::object());
    request.prompt = run.value("prompt", "");
    request.prompt_is_ids = run.value("prompt_is_ids", false);
    request.chat = run.value("chat", false);
    request.system = run.value("system", "");
    // A text, because the members of a message have an order. Older files have a list.
    if (const json turns = run.value("turns", json::array()); !turns.empty() && turns != "[]")
      request.turns = read_conversation(turns.is_string() ? formats::parse_ordered_json(
                                                                turns.get<std::string>(), "turns")
                                                          : nlohmann::ordered_json(turns),
                                        "turns")
                          .messages;
    if (const std::string tools = run.value("tools", ""); !tools.empty())
      request.tools = read_tools(formats::parse_ordered_json(tools, "tools"), "tools");
    request.chat_template = run.value("chat_template", "");
    request.chat_template_file = run.value("chat_template_file", "");
    request.max_new_tokens = std::max(1, run.value("max_new_tokens", request.max_new_tokens));
    request.seed = run.value("seed", std::uint64_t{0});
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::rename(path, path.string() + ".bad", ignored);
    warning = path.string() + " could not be read (" + error.what() +
              "); it was put aside as window.json.bad and the defaults are used";
    return {};
  }
  return preferences;
}

std::string save_preferences(const Preferences& preferences) try {
  const RunRequest& request = preferences.request;
  const json all = {{"theme", viz::to_string(preferences.theme)},
                    {"lecture_theme", viz::to_string(preferences.lecture_theme)},
                    {"lecture_full_screen", preferences.lecture_full_screen},
                    {"user_scale", preferences.user_scale},
                    {"run_bar_open", preferences.run_bar_open},
                    {"play_speed", preferences.play_speed},
                    {"compare_own_scales", preferences.compare_own_scales},
                    {"layout", preferences.layout},
                    {"layout_name", preferences.layout_name},
                    {"layouts", preferences.layouts},
                    {"layout_tabs", preferences.layout_tabs},
                    {"view_states", preferences.view_states},
                    {"recent_captures", to_json(preferences.recent_captures)},
                    {"recent_runs", to_json(preferences.recent_runs)},
                    {"window", to_json(preferences.window)},
                    {"prompt_em", preferences.prompt_em},
                    {"export_folder", preferences.export_folder},
                    {"recent_hosts", preferences.recent_hosts},
                    {"finished_lessons", preferences.finished_lessons},
                    {"run",
                     {{"model", request.model},
                      {"draft_model", request.draft_model},
                      {"draft_device", request.draft_device},
                      {"device", request.device},
                      {"dtype", to_string(request.dtype)},
                      {"kv_dtype", request.kv_dtype ? to_string(*request.kv_dtype) : ""},
                      {"method", request.method},
                      {"settings", request.settings},
                      {"prompt", request.prompt},
                      {"prompt_is_ids", request.prompt_is_ids},
                      {"chat", request.chat},
                      {"system", request.system},
                      {"turns", dump_json(messages_json(request.turns))},
                      {"tools", request.tools},
                      {"chat_template", request.chat_template},
                      {"chat_template_file", request.chat_template_file},
                      {"max_new_tokens", request.max_new_tokens},
                      {"seed", request.seed}}}};
  const fs::path path = preferences_path();
  fs::create_directories(path.parent_path());
  viz::write_whole(path, dump_json(all, 1) + "\n");
  return "";
} catch (const std::exception& error) {
  return std::string("the layout is not remembered: ") + error.what();
}

std::string new_run_path() {
  const fs::path folder = cache_folder() / "runs";
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec)
    throw Error(ErrorCode::kIoError, folder.string() + ": cannot be made (" + ec.message() +
                                         "); set XDG_CACHE_HOME to a folder that can be written");
  std::vector<fs::path> runs;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().extension() == ".tscap") runs.push_back(it->path());
  std::sort(runs.begin(), runs.end());  // names begin with their time
  for (std::size_t i = 0; i + kKeptRuns < runs.size() + 1; ++i) fs::remove(runs[i], ec);

  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm local{};
  localtime_r(&seconds, &local);
  char time[64];
  std::strftime(time, sizeof time, "%Y%m%d-%H%M%S", &local);
  // A path returned a moment ago may not be a file yet, be it this process's or another's.
  const std::string name = time + ("-" + std::to_string(::getpid()));
  static std::set<std::string> given;
  for (int i = 0;; ++i) {
    const fs::path path = folder / (name + (i ? "-" + std::to_string(i) : "") + ".tscap");
    if (!fs::exists(path) && given.insert(path.string()).second) return path.string();
  }
}

}  // namespace triescope::app
