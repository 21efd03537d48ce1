// What the window remembers between two starts.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "app/window/preferences.h"
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

TEST_CASE_FIXTURE(Home, "preferences: an unknown theme puts the file aside and says so") {
  std::string warning;
  const Preferences preferences = load(R"({"theme": "sepia", "user_scale": 2})", warning);
  CHECK(preferences.theme == viz::ThemeName::kDark);
  CHECK(preferences.user_scale == 1);
  CHECK(warning.find("expected dark, light or projector; found 'sepia'") != std::string::npos);
  CHECK(std::filesystem::exists(file.string() + ".bad"));
  CHECK_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace triescope::app::test_preferences
