// The differences between a run and those that it can be compared with.
#include <doctest/doctest.h>

#include <string>

#include "app/window/compare/compare_rows.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"

namespace triescope::app::test_compare_rows {
namespace {

struct Desk {
  test::TempDir folder;
  Workspace workspace{Preferences{}, [] {}};

  void open(const std::string& name, const std::string& method, const std::string& settings,
            std::int64_t seed = 0, const std::string& words = "{}") {
    const std::string path = (folder.path() / (name + ".tscap")).string();
    {
      const auto recorder = capture::open_recorder(path);
      capture::RunInfo run;
      run.model_json = R"({"name":"m","dtype":"f32","device":"cpu"})";
      run.method = method;
      run.method_title = method;
      run.settings_json = settings;
      run.setting_titles_json = R"({"num_beams":"Beams"})";
      run.setting_words_json = words;
      run.seed = seed;
      run.prompt_tokens = {1};
      recorder->write({.run = run, .finish = capture::Finish{}});
    }
    workspace.documents.open(path);
    REQUIRE(workspace.log.problems.empty());
  }
};

TEST_CASE_FIXTURE(
    Desk,
    "compare rows: a row says the settings in which runs of its method differ, and no others") {
  open("a", "beam", R"({"num_beams":2,"kv":"recycle"})");
  open("b", "beam", R"({"num_beams":4,"kv":"recycle"})");
  open("c", "greedy", R"({"candidates":5})");
  const auto rows = compare_rows(workspace);  // c is shown
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].differs == "Beams 2");
  CHECK(rows[1].differs == "Beams 4");
}

TEST_CASE_FIXTURE(Desk, "compare rows: a row has the recorder's word for a value") {
  open("a", "trie", R"({"num_draft":0})", 0, R"({"num_draft":"auto"})");
  open("b", "trie", R"({"num_draft":4})");
  workspace.documents.activate(workspace.documents.all()[1].get());
  REQUIRE(compare_rows(workspace).size() == 1);
  CHECK(compare_rows(workspace)[0].differs == "num_draft auto");
}

TEST_CASE_FIXTURE(
    Desk, "compare rows: what all runs have, like the seed, is said where it is not the same") {
  open("a", "greedy", "{}", 1);
  open("b", "greedy", "{}", 2);
  REQUIRE(compare_rows(workspace).size() == 1);
  CHECK(compare_rows(workspace)[0].differs == "seed 1");
  open("c", "greedy", "{}", 2);
  workspace.run.close(workspace.documents.all()[0].get());
  CHECK(compare_rows(workspace)[0].differs == "the same settings");
}

}  // namespace
}  // namespace triescope::app::test_compare_rows
