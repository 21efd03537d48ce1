// From a request to a session: what is refused before anything is loaded, what is loaded once and
// kept, which notes the caller gets, what is recorded.
#include <doctest/doctest.h>

#include "app/session/run.h"
#include "core/capture/capture.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/app/tiny_model.h"

namespace triescope::app::test_run {
namespace {

class Notes final : public RunWatcher {
 public:
  ProgressSink progress() override {
    return [this](const std::string&, double, double) { ++progressed; };
  }
  std::stop_token stop() override { return source.get_token(); }
  void loading(const std::string& path) override {
    told.push_back("loading " + std::filesystem::path(path).filename().string());
  }
  void before_target_goes() override { told.push_back("target goes"); }
  void before_draft_goes(const std::string&) override { told.push_back("draft goes"); }
  void target_loaded(const Model& target) override {
    told.push_back("loaded " + target.info().name);
  }
  void draft_loaded(const Model& draft) override { told.push_back("drafts " + draft.info().name); }
  void warn(const std::string& text) override { told.push_back("warned: " + text); }

  // The notes since the last call, separated by "; ".
  std::string take() {
    std::string all;
    for (const std::string& one : std::exchange(told, {})) all += (all.empty() ? "" : "; ") + one;
    return all;
  }
  std::stop_source source;
  std::vector<std::string> told;
  int progressed = 0;
};

struct Bench {
  RunRequest request(const std::string& method = "greedy") {
    RunRequest request;
    request.model = model;
    request.method = method;
    request.settings = {{"eos_token_id", {-1}}};
    request.prompt_ids = {1, 2, 3};
    request.max_new_tokens = 5;
    return request;
  }
  test::TempDir folder;
  std::string model = write_tiny_model(folder.path(), "one");
  RunModels models;
  Notes notes;
};

TEST_CASE_FIXTURE(Bench,
                  "run: a run loads its model once, says so, and stands before its first phase") {
  Run run(request(), models, {.threads = 1}, notes);
  CHECK(notes.take() == "loading one.gguf; target goes; loaded one");
  CHECK(run.session().next_tick() == 0);
  CHECK(run.breaks() == nullptr);
  run.session().run();
  CHECK(run.result().sequences.at(0).tokens.size() == 5);
  CHECK(run.result().time.load_ms > 0);
  CHECK(notes.progressed > 0);

  Run again(request("beam"), models, {.threads = 1}, notes);
  CHECK(notes.take() == "");
  again.session().run();
  CHECK(again.result().sequences.at(0).tokens.size() == 5);
}

TEST_CASE_FIXTURE(Bench,
                  "run: a draft model is loaded after its target, and stays for the next run") {
  RunRequest asked = request("draft_model");
  asked.draft_model = write_tiny_model(folder.path(), "two", {.seed = 2});
  Run run(asked, models, {.threads = 1}, notes);
  CHECK(notes.take() == "loading one.gguf; target goes; loaded one; draft goes; drafts two");
  run.session().run();
  Run again(asked, models, {.threads = 1}, notes);
  CHECK(notes.take() == "");
  again.session().run();
  CHECK(again.result().sequences.at(0).tokens == run.result().sequences.at(0).tokens);
}

TEST_CASE_FIXTURE(Bench,
                  "run: what can be refused without a model is refused before one is loaded") {
  RunRequest wrong = request();
  wrong.settings["temperature"] = 1;  // greedy takes none
  CHECK_THROWS_AS(Run(wrong, models, {}, notes), Error);
  CHECK(notes.take() == "");
  CHECK_FALSE(models.target.model);
}

TEST_CASE_FIXTURE(Bench, "run: a prompt that is refused leaves the model, and no capture") {
  RunRequest wrong = request();
  wrong.prompt_ids = {1, 4711};
  const std::string path = (folder.path() / "run.tscap").string();
  CHECK_THROWS_AS(Run(wrong, models, {.capture = path, .threads = 1}, notes), Error);
  CHECK(models.target.model);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE_FIXTURE(Bench, "run: a load that is stopped is refused as such") {
  notes.source.request_stop();
  CHECK(test::refusal(ErrorCode::kCancelled, [&] {
          Run(request(), models, {.threads = 1}, notes);
        }).find("cancel") != std::string::npos);
}

TEST_CASE_FIXTURE(Bench, "run: it is recorded with its breakpoints, and so is a branch from it") {
  const std::string path = (folder.path() / "run.tscap").string(),
                    branched = (folder.path() / "branch.tscap").string();
  Run run(request(), models, {.capture = path, .threads = 1, .breakpoints = true}, notes);
  REQUIRE(run.breaks());
  run.breaks()->set_breakpoints({{BreakKind::kStep, 1, true}});
  run.session().run();
  CHECK_FALSE(run.breaks()->take_hit().empty());
  Run branch(run, models, NodeId{2}, 7, {.capture = branched, .breakpoints = true});
  branch.session().run();
  const auto first = run.result().sequences.at(0).tokens,
             second = branch.result().sequences.at(0).tokens;
  CHECK(std::vector(second.begin(), second.begin() + 2) ==
        std::vector(first.begin(), first.begin() + 2));
  CHECK(second[2] == 7);
  CHECK(capture::Capture::open(path)->status() == capture::RunStatus::kDone);
  CHECK(capture::Capture::open(branched)->nodes()[3].token == 7);
}

TEST_CASE_FIXTURE(Bench, "a recorded run is the run: the same tokens as one that nobody records") {
  const std::string path = (folder.path() / "run.tscap").string();
  record_run(request(), path, {}, {});
  Run run(request(), models, {}, notes);
  run.session().run();
  const auto capture = capture::Capture::open(path);
  REQUIRE(capture->sequences().size() > 0);
  CHECK(capture->sequences().back().tokens == run.result().sequences.at(0).tokens);
}

}  // namespace
}  // namespace triescope::app::test_run
