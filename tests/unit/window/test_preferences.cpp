#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "app/window/workspace/preferences.h"
#include "tests/support/environment.h"
#include "tests/support/paths.h"

namespace triescope::app::test_preferences {
namespace {

struct Home {
  test::TempDir folder;
  std::filesystem::path file = folder.path() / "triescope" / "window.json";
  test::EnvironmentVariable config{"XDG_CONFIG_HOME", folder.path()};

  Preferences load(const std::string& text, std::string& warning) const {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return load_preferences(warning);
  }
};

TEST_CASE_FIXTURE(Home, "preferences: themes are remembered by name, the lecture's apart") {
  Preferences preferences;
  CHECK(preferences.theme == viz::ThemeName::kDark);
  CHECK(preferences.lecture_theme == viz::ThemeName::kProjector);
  CHECK_FALSE(preferences.lecture_full_screen);
  preferences.theme = viz::ThemeName::kProjector;
  preferences.lecture_theme = viz::ThemeName::kLight;
  preferences.lecture_full_screen = true;
  REQUIRE(save_preferences(preferences) == "");
  std::string warning;
  const Preferences again = load_preferences(warning);
  CHECK(warning == "");
  CHECK(again.theme == viz::ThemeName::kProjector);
  CHECK(again.lecture_theme == viz::ThemeName::kLight);
  CHECK(again.lecture_full_screen);
}

TEST_CASE_FIXTURE(Home,
                  "preferences: a file of an earlier version says whether its theme was dark") {
  std::string warning;
  CHECK(load(R"({"dark": false})", warning).theme == viz::ThemeName::kLight);
  CHECK(load(R"({"dark": true})", warning).theme == viz::ThemeName::kDark);
  CHECK(load("{}", warning).theme == viz::ThemeName::kDark);
  CHECK(load("{}", warning).lecture_theme == viz::ThemeName::kProjector);
  CHECK(warning == "");
}

TEST_CASE_FIXTURE(Home, "preferences: which tabs were in front is remembered by layout") {
  Preferences preferences;
  preferences.layout_tabs = {{"debug", {"", "mask"}}, {"board", {"kv"}}};
  REQUIRE(save_preferences(preferences) == "");
  std::string warning;
  CHECK(load_preferences(warning).layout_tabs == preferences.layout_tabs);
  CHECK(load("{}", warning).layout_tabs.empty());
  CHECK(warning == "");
}

TEST_CASE("preferences: runs that begin within a second have files of their own") {
  const test::TempDir folder;
  const test::EnvironmentVariable cache("XDG_CACHE_HOME", folder.path());
  std::set<std::string> paths;
  for (int i = 0; i < 20; ++i) {
    const std::string path = new_run_path();
    CHECK(paths.insert(path).second);
    if (i % 3 == 0) std::ofstream(path) << "a run";
  }
}

TEST_CASE("preferences: runs that two programs begin within a second have files of their own") {
  const test::TempDir folder;
  const test::EnvironmentVariable cache("XDG_CACHE_HOME", folder.path());
  const std::filesystem::path told = folder.path() / "told";
  // Neither makes its file. Of several pairs, one falls within a second.
  for (int i = 0; i < 3; ++i) {
    const pid_t other = ::fork();
    REQUIRE(other >= 0);
    if (other == 0) {
      std::ofstream(told) << new_run_path();
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(other, &status, 0) == other);
    REQUIRE(status == 0);
    std::string path;
    std::ifstream(told) >> path;
    CHECK(path.ends_with(".tscap"));
    CHECK(path != new_run_path());
  }
}

TEST_CASE_FIXTURE(Home, "preferences: two programs that save at once leave a whole file") {
  Preferences preferences;
  preferences.user_scale = 1.5f;
  const pid_t other = ::fork();
  REQUIRE(other >= 0);
  const auto all_saved = [&] {
    bool all = true;
    for (int i = 0; i < 100; ++i) all &= save_preferences(preferences).empty();
    return all;
  };
  if (other == 0) ::_exit(all_saved() ? 0 : 1);
  CHECK(all_saved());
  int status = 0;
  REQUIRE(::waitpid(other, &status, 0) == other);
  CHECK(status == 0);
  std::string warning;
  CHECK(load_preferences(warning).user_scale == 1.5f);
  CHECK(warning == "");
}

TEST_CASE_FIXTURE(Home, "preferences: a link to a file elsewhere stays one") {
  std::filesystem::create_directories(file.parent_path());
  const std::filesystem::path elsewhere = folder.path() / "elsewhere.json";
  std::ofstream(elsewhere) << "{}";
  std::filesystem::create_symlink(elsewhere, file);
  Preferences preferences;
  preferences.user_scale = 1.5f;
  REQUIRE(save_preferences(preferences) == "");
  CHECK(std::filesystem::is_symlink(file));
  std::string warning;
  CHECK(load_preferences(warning).user_scale == 1.5f);
}

TEST_CASE_FIXTURE(Home, "preferences: an unknown theme puts the file aside and says so") {
  std::string warning;
  const Preferences preferences = load(R"({"theme": "sepia", "user_scale": 2})", warning);
  CHECK(preferences.theme == viz::ThemeName::kDark);
  CHECK(preferences.user_scale == 1);
  CHECK(warning.find("expected dark, light or projector; found 'sepia'") != std::string::npos);
  CHECK(std::filesystem::exists(file.string() + ".bad"));
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE_FIXTURE(Home, "preferences: the speed of playback is remembered, within what there is") {
  Preferences preferences;
  CHECK(preferences.play_speed == 1);
  preferences.play_speed = 4;
  REQUIRE(save_preferences(preferences) == "");
  std::string warning;
  CHECK(load_preferences(warning).play_speed == 4);
  CHECK(load(R"({"play_speed": 1000})", warning).play_speed == 8);
  CHECK(load(R"({"play_speed": -3})", warning).play_speed == 0.25);
  CHECK(load("{}", warning).play_speed == 1);
  CHECK(warning == "");
}

TEST_CASE_FIXTURE(Home,
                  "preferences: the window's place and recent runs, as far as they are there") {
  Preferences preferences;
  CHECK(preferences.window == WindowPlace());
  preferences.window = {
      .width = 1500, .height = 900, .x = 20, .y = -10, .has_position = true, .maximised = true};
  const std::string kept = folder.path() / "kept.tscap";
  std::ofstream(kept) << "run";
  remember_capture(preferences.recent_runs, {folder.path() / "gone.tscap", "Greedy", "", "a"});
  remember_capture(preferences.recent_runs, {kept, "Greedy", "2026-01-02 03:04", "Once upon"});
  REQUIRE(save_preferences(preferences) == "");
  std::string warning;
  const Preferences again = load_preferences(warning);
  CHECK(warning == "");
  CHECK(again.window == preferences.window);
  REQUIRE(again.recent_runs.size() == 1);
  CHECK(again.recent_runs[0].path == kept);
  CHECK(again.recent_runs[0].prompt == "Once upon");
  CHECK(load(R"({"window": {"width": 1, "height": 999999}})", warning).window ==
        WindowPlace{.width = 64, .height = 32768});
}

TEST_CASE_FIXTURE(Home, "preferences: a chat's system prompt and turns, and where exports go") {
  Preferences preferences;
  preferences.request.chat = true;
  preferences.request.system = "Be brief.";
  preferences.request.turns = {{"user", "Hello"},
                               {"assistant", "", R"({"tool_calls":[{"b":1,"a":2}]})"}};
  preferences.request.tools = R"([{"z":1,"a":2}])";
  preferences.request.chat_template = "t";
  preferences.request.chat_template_file = "t.jinja";
  preferences.export_folder = "/some/where";
  REQUIRE(save_preferences(preferences) == "");
  std::string warning;
  const Preferences again = load_preferences(warning);
  CHECK(warning == "");
  CHECK(again.request.system == preferences.request.system);
  CHECK(again.request.turns == preferences.request.turns);
  CHECK(again.request.tools == preferences.request.tools);
  CHECK(again.request.chat_template == "t");
  CHECK(again.request.chat_template_file == "t.jinja");
  CHECK(again.export_folder == "/some/where");
  CHECK(load(R"({"run": {"chat": true}})", warning).request.turns.empty());
  CHECK(warning == "");
}

}  // namespace
}  // namespace triescope::app::test_preferences
