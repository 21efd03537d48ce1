// The runs of a study: which, in which order, and what stays of them.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "app/session/result_json.h"
#include "app/study/study_figures.h"
#include "core/capture/capture.h"
#include "core/capture/sqlite_db.h"
#include "core/method/parameters_of.h"
#include "core/methods/registry.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"
#include "tests/unit/app/study_rig.h"

namespace triescope::app::test_study_runs {
namespace {

namespace fs = std::filesystem;

class Watcher final : public StudyWatcher {
 public:
  void begins(const StudyRun& run, int done, int of, std::optional<double> left) override {
    began.push_back(run.words());
    CHECK(left.has_value() == (done > 0));
    if (left) CHECK(*left > 0);
    last_of = of;
    if (stop_before == done) source.request_stop();
  }
  void failed(const StudyRun&, const std::string& why) override { failures.push_back(why); }
  std::vector<std::string> began, failures;
  int stop_before = -1, last_of = 0;
  std::stop_source source;
};

struct Bench : StudyRig {
  StudyOutcome run(const std::string& text) {
    const StudyFile study = read(text);
    return run_study(study, study_runs(study), out, watcher, watcher.source.get_token(), "");
  }
  std::vector<StudyRow> rows() { return StudyStore(out, /*writes=*/false).rows(); }
  std::size_t captures() {
    const fs::directory_iterator files(fs::path(out) / "captures");
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }
  Watcher watcher;
};

TEST_CASE_FIXTURE(Bench, "study: methods come in turn, repeats last, every combination once") {
  const std::vector<StudyRun> runs = study_runs(read(kSmallStudy));
  std::vector<std::string> words;
  std::set<std::string> keys, files;
  for (const StudyRun& run : runs) {
    words.push_back(
        run.name + run.request.settings.value("prompt_lookup_num_tokens", nlohmann::json()).dump() +
        run.category + std::to_string(run.repeat));
    keys.insert(run.key);
    files.insert(run.capture);
  }
  CHECK(words == std::vector<std::string>{
                     "greedynullletters1", "lookup2letters1", "lookup4letters1", "greedynullmore1",
                     "lookup2more1", "lookup4more1", "greedynullletters2", "lookup2letters2",
                     "lookup4letters2", "greedynullmore2", "lookup2more2", "lookup4more2"});
  CHECK(keys.size() == 12);
  CHECK(files.size() == 12);
  CHECK(study_runs(read(std::string(kSmallStudy) + "[[prompts]]\ntext = 'XYXYXY'\n")).size() == 12);
}

TEST_CASE_FIXTURE(Bench, "study: every run is a row with decode's figures, and a capture") {
  const StudyOutcome outcome = run(kSmallStudy);
  CHECK(outcome.done == 12);
  CHECK(outcome.failed == 0);
  CHECK_FALSE(outcome.interrupted);
  CHECK(captures() == 12);
  const std::vector<StudyRow> table = rows();
  REQUIRE(table.size() == 12);
  for (const StudyRow& row : table) {
    CHECK(row.at("status") == "done");
    CHECK(row.at("model") == "one.gguf");
    CHECK(row.at("emitted_tokens") == 12);
    const auto recorded =
        capture::Capture::open((fs::path(out) / "captures" / row.at("capture")).string());
    std::int64_t forwards = 0, emitted = 0, accepted = 0;
    for (const capture::StepRow& step : recorded->steps())
      ++forwards, emitted += step.emitted, accepted += step.accepted;
    CHECK(row.at("target_forwards") == forwards);
    CHECK(row.at("tokens_per_forward").get<double>() ==
          doctest::Approx(static_cast<double>(emitted) / static_cast<double>(forwards)));
    CHECK(row.at("accepted_drafts") == accepted);
    // Each accepted draft is one at its depth.
    std::int64_t by_depth = 0;
    for (const auto& depth : row.at("accepted_by_depth"))
      by_depth += depth.at("accepted").get<std::int64_t>();
    CHECK(by_depth == accepted);
    if (row.at("name") == "lookup") CHECK(row.at("prompt_lookup_num_tokens").is_number());
  }
  // Exact methods: the text is the prompt's, whatever decoded it.
  for (const StudyRow& row : table)
    for (const StudyRow& other : table)
      if (row.at("prompt") == other.at("prompt")) CHECK(row.at("text") == other.at("text"));
}

TEST_CASE_FIXTURE(Bench, "study: called again it makes what is missing alone") {
  watcher.stop_before = 5;
  const StudyOutcome first = run(kSmallStudy);
  CHECK(first.interrupted);
  CHECK(first.done == 5);
  CHECK(rows().size() == 5);
  CHECK(captures() == 5);  // nothing of the run that was hit
  Watcher again;
  const StudyFile study = read(kSmallStudy);
  // A kill while a capture was being made leaves a file that is none yet.
  std::ofstream(fs::path(out) / "captures" / study_runs(study)[5].capture) << "half";
  const StudyOutcome second =
      run_study(study, study_runs(study), out, again, again.source.get_token(), "");
  CHECK(second.there == 5);
  CHECK(second.done == 7);
  CHECK(again.last_of == 7);
  CHECK(rows().size() == 12);
  CHECK(captures() == 12);
}

TEST_CASE_FIXTURE(Bench, "study: a run that fails says why, and is tried again") {
  const std::string too_long =
      "[study]\nmodels = 'MODEL'\nmax_new_tokens = [4, 100000]\n[[method]]\nmethod = 'greedy'\n"
      "[[prompts]]\ntext = 'ABC'\n";
  const StudyOutcome outcome = run(too_long);
  CHECK(outcome.done == 1);
  CHECK(outcome.failed == 1);
  REQUIRE(watcher.failures.size() == 1);
  CHECK(captures() == 1);
  const std::vector<StudyRow> table = rows();
  CHECK(table[1].at("status") == "failed");
  CHECK(table[1].at("message") == watcher.failures[0]);
  CHECK(folded_rows(table, "").size() == 1);
  watcher = {};
  CHECK(run(too_long).there == 1);
  CHECK(watcher.failures.size() == 1);
}

TEST_CASE_FIXTURE(Bench, "study: without captures the table has all but the drafts by depth") {
  std::string text = kSmallStudy;
  text.insert(text.find("repeats = 2"), "captures = \"off\"\n");
  CHECK(run(text).done == 12);
  CHECK(captures() == 0);
  for (const StudyRow& row : rows()) {
    CHECK(row.at("capture").is_null());
    CHECK(row.at("accepted_by_depth").is_null());
    CHECK(row.at("tokens_per_forward").is_number());
  }
}

TEST_CASE_FIXTURE(
    Bench, "study: conversations run, and beams with drafts say how many levels they gained") {
  std::ofstream(folder.path() / "talk.json")
      << R"({"messages": [{"role": "user", "content": "ABCABC"}],
             "chat_template": "{{ messages[0].content }}"})";
  run("[study]\nmodels = 'MODEL'\nmax_new_tokens = 8\n[[method]]\nmethod = 'speculative_beam'\n"
      "[[method]]\nmethod = 'greedy'\n[[prompts]]\nmessages = 'talk.json'\n");
  const std::vector<StudyRow> table = rows();
  REQUIRE(table.size() == 2);
  CHECK(watcher.failures.empty());
  CHECK(table[0].at("prompt_tokens") == 6);
  CHECK(table[0].at("prompt_text") == "ABCABC");
  StudyStore store(out, /*writes=*/false);
  capture::Database db((fs::path(out) / "study.sqlite").string(), SQLITE_OPEN_READONLY);
  capture::Statement result(db, "select result from run where method = 'speculative_beam'");
  REQUIRE(result.next());
  CHECK(table[0].at("levels_gained") ==
        nlohmann::json::parse(result.text(0)).at("/levels_gained/a_step"_json_pointer));
  CHECK(table[1].at("levels_gained").is_null());
}

TEST_CASE_FIXTURE(Bench, "study: a table that lacks a figure's column gets it") {
  run(kSmallStudy);
  {
    capture::Database db((fs::path(out) / "study.sqlite").string(), SQLITE_OPEN_READWRITE);
    db.execute("alter table run drop column levels_gained");
    db.execute("delete from run where name = 'greedy'");
  }
  CHECK(run(kSmallStudy).done == 4);
  CHECK(rows().size() == 12);
  for (const StudyRow& row : rows()) CHECK(row.contains("levels_gained"));
}

TEST_CASE("study: no parameter of a method has the name of a column") {
  std::set<std::string> columns = {
      "finished_at", "key",     "place",    "status",    "message",         "name",
      "model",       "method",  "draft",    "category",  "prompt",          "prompt_text",
      "seed",        "repeat",  "settings", "capture",   "max_new_tokens",  "prompt_tokens",
      "runs",        "repeats", "speedup",  "same_text", "accepted_drafts", "accepted_per_step"};
  for (const StudyMetric& metric : study_metrics()) CHECK(columns.insert(metric.name).second);
  for (const MethodInfo& method : methods())
    for (const Parameter& parameter : parameters_of(method)) {
      CAPTURE(parameter.name);
      CHECK(columns.count(parameter.name) == 0);
    }
}

TEST_CASE_FIXTURE(Bench, "study: the page describes every column of the table") {
  const std::string page = test::read_file(test::source_dir() / "docs" / "study.md");
  StudyStore(folder.path().string(), /*writes=*/true);
  capture::Database table((folder.path() / "study.sqlite").string(), SQLITE_OPEN_READONLY);
  capture::Statement columns(table, "select name from pragma_table_info('run')");
  int count = 0;
  for (; columns.next(); ++count) {
    CAPTURE(columns.text(0));
    CHECK(page.find("`" + columns.text(0) + "`") != std::string::npos);
  }
  CHECK(count > 40);
}

TEST_CASE("study: a figure stands where decode's JSON has it") {
  RunResult result;
  result.sequences.push_back({{1}, "x", 0.5, "eos"});
  result.emitted_tokens = 4;
  result.prefill_tokens = 1;
  result.time.decode_ms = 1;
  result.levels_histogram = {0, 1};  // beams with drafts
  const nlohmann::json all = result_json(result, {}, {}, "greedy");
  for (const StudyMetric& metric : study_metrics()) {
    CAPTURE(metric.name);
    const nlohmann::json::json_pointer place(metric.pointer);
    if (!std::string_view(metric.pointer).starts_with("/draft/")) CHECK(all.contains(place));
    CHECK_FALSE(std::string_view(metric.meaning).empty());
  }
}

}  // namespace
}  // namespace triescope::app::test_study_runs
