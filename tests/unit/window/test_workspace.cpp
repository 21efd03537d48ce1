// The workspace without a window: open captures, ranges, the command table over them.
#include <doctest/doctest.h>

#include <set>

#include "app/run/loaded_model.h"
#include "app/window/commands.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/unit/app/tiny_model.h"

namespace triescope::app {
namespace {

using Range = std::optional<std::pair<std::int32_t, std::int32_t>>;

struct Desk {
  test::TempDir folder;
  Workspace workspace{Preferences{}, [] {}};
  UiState ui;
  CommandTable commands{workspace, ui};

  // A greedy run of 6 tokens after `prompt`, recorded and opened.
  Document& open_run(const std::string& name, std::vector<std::int32_t> prompt) {
    LoadedModel loaded;
    loaded.load(write_tiny_model(folder.path(), "tiny"), {.threads = 1}, {}, {});
    const std::string path = (folder.path() / (name + ".tscap")).string();
    RunConfig config;
    config.method = "greedy";
    config.settings = {{"eos_token_id", {-1}}};
    config.prompt_tokens = std::move(prompt);
    config.max_new_tokens = 6;
    {
      const auto recorder = capture::open_recorder(path);
      Session(*loaded.model, *loaded.tokenizer, std::move(config), *recorder).run();
    }
    workspace.open_capture(path);
    REQUIRE(workspace.problems.empty());
    return *workspace.active();
  }
};

TEST_CASE_FIXTURE(Desk, "a range is of one run, and of both while two are compared") {
  Document& left = open_run("left", {1, 2});
  Document& right = open_run("right", {3});
  Document& third = open_run("third", {4});
  workspace.set_range_of(left, {{1, 3}});
  CHECK(left.range == Range{{1, 3}});
  CHECK_FALSE(right.range);

  workspace.activate(&left);
  workspace.compare(&right);
  CHECK(right.range == Range{{1, 3}});  // figures are compared over the same steps
  workspace.set_range_of(right, {{2, 4}});
  CHECK(left.range == Range{{2, 4}});
  CHECK(right.range == Range{{2, 4}});
  workspace.set_range_of(left, {{0, 1}});
  CHECK(left.range == Range{{0, 1}});
  CHECK(right.range == Range{{0, 1}});
  CHECK_FALSE(third.range);
  CHECK(workspace.state_json({})["compare"]["range"] == nlohmann::json{0, 1});

  commands.find("clear-range")->run();
  CHECK_FALSE(left.range);
  CHECK_FALSE(right.range);
  CHECK(workspace.state_json({})["compare"]["range"].is_null());
  workspace.stop_comparing();
  workspace.set_range_of(left, {{1, 2}});
  CHECK_FALSE(right.range);
}

TEST_CASE_FIXTURE(Desk, "the prompt is ids where that was asked for") {
  CHECK_FALSE(workspace.prompt_is_ids());
  workspace.request().prompt_is_ids = true;
  CHECK(workspace.prompt_is_ids());
  CHECK(workspace.state_json({})["run"]["prompt_is_ids"] == true);
}

TEST_CASE_FIXTURE(Desk,
                  "every command has a name of its own, a title, a known menu, keys of its own") {
  std::set<std::string> ids, keys;
  std::vector<std::string> menus;
  for (const Command& command : commands.all()) {
    CAPTURE(command.id);
    CHECK(ids.insert(command.id).second);
    CHECK_FALSE(command.title.empty());
    CHECK(static_cast<bool>(command.run));
    CHECK(commands.find(command.id) == &command);
    const auto& known = menu_names();
    CHECK(std::find(known.begin(), known.end(), command.menu) != known.end());
    for (const Chord chord : command.chords) {
      CHECK(keys.insert(to_string(chord)).second);
      CHECK(commands.find(chord) == &command);
    }
  }
  CHECK(commands.all().size() == 46);
  CHECK(commands.find("no-such-command") == nullptr);
  CHECK(to_string(commands.find("layout-debug")->chords.front()) == "Ctrl+1");
  CHECK(to_string(commands.find("layout-compare")->chords.front()) == "Ctrl+4");
}

TEST_CASE_FIXTURE(Desk, "a command is enabled where there is something for it to act on") {
  const auto enabled = [&](const char* id) { return commands.find(id)->is_enabled(); };
  for (const char* id : {"save-as", "export", "close", "restart", "what-if", "back", "go-start",
                         "bookmark", "release-focus", "compare-with"}) {
    CAPTURE(id);
    CHECK_FALSE(enabled(id));
  }
  for (const char* id : {"open", "start", "start-run", "run", "step", "palette"}) {
    CAPTURE(id);
    CHECK(enabled(id));
  }
  Document& document = open_run("one", {1});
  for (const char* id : {"save-as", "export", "close", "restart", "what-if", "back", "go-start",
                         "bookmark", "release-focus", "compare-with"}) {
    CAPTURE(id);
    CHECK(enabled(id));
  }
  CHECK_FALSE(enabled("clear-range"));
  workspace.set_range_of(document, {{1, 2}});
  CHECK(enabled("clear-range"));
  for (const char* id : {"go-difference", "compare-by-tokens", "run-to-cursor", "stop", "cancel"}) {
    CAPTURE(id);
    CHECK_FALSE(enabled(id));
  }
  open_run("two", {2});
  workspace.compare(nullptr);
  CHECK(enabled("go-difference"));
  CHECK(commands.find("compare-by-tokens")->checked());
  CHECK_FALSE(commands.find("compare-by-time")->checked());
  commands.find("compare-by-time")->run();
  CHECK(workspace.along() == viz::Along::kTime);
  commands.find("go-start")->run();
  CHECK(workspace.active()->cursor == 0);
}

}  // namespace
}  // namespace triescope::app
