// The spec benchmark: its plan over tasks, and its figures against the rows and captures of the runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "app/session/text_tools.h"
#include "app/spec/spec_figures.h"
#include "app/spec/spec_plan.h"
#include "app/spec/spec_tables.h"
#include "app/study/run_study.h"
#include "core/capture/capture.h"
#include "tests/support/refusal.h"
#include "tests/unit/app/study_rig.h"

namespace triescope::app::test_spec_bench {
namespace {

namespace fs = std::filesystem;

const std::vector<BenchPrompt> kPrompts = {
    {"letters", "ABCABCABCAB", 1}, {"more", "XYXYXYX", 2}, {"letters", "DEFDEFD", 3}};

struct Bench : StudyRig {
  SpecOptions options() const {
    SpecOptions wanted;
    wanted.model = model;
    wanted.threads = 1;
    wanted.methods = {"prompt_lookup:eos_token_id=-1:prompt_lookup_num_tokens=4",
                      "ngram_trie:eos_token_id=-1:num_draft=6"};
    wanted.prompts = kPrompts;
    wanted.max_new_tokens = 12;
    return wanted;
  }
  std::vector<StudyRow> rows(const SpecOptions& wanted) {
    StudyWatcher watcher;
    const StudyFile study = spec_study(wanted);
    const StudyOutcome outcome =
        run_study(study, study_runs(study), out, watcher, std::stop_token(), "");
    CHECK(outcome.failed == 0);
    return StudyStore(out, /*writes=*/false).rows();
  }
};

std::vector<std::string> texts_of(const std::vector<BenchPrompt>& prompts) {
  std::vector<std::string> texts;
  for (const BenchPrompt& prompt : prompts) texts.push_back(prompt.category + " " + prompt.text);
  return texts;
}

using Texts = std::vector<std::string>;

TEST_CASE_FIXTURE(StudyRig,
                  "spec bench: published categories become tasks, and tasks come in turn") {
  const std::string spec = (folder.path() / "question.jsonl").string();
  test::write_file(spec, R"({"question_id": 81, "category": "writing", "turns": ["w1", "second"]}
{"question_id": 82, "category": "writing", "turns": ["w2"]}
{"question_id": 91, "category": "math", "turns": ["m1"]}
{"question_id": 401, "category": "math_reasoning", "turns": ["g1"]}
{"question_id": 481, "category": "rag", "turns": ["r1"]}
{"question_id": 482, "category": "rag", "turns": ["r2"]}
)");
  const std::string code = (folder.path() / "HumanEval.jsonl").string();
  test::write_file(code,
                   R"({"task_id": "HumanEval/7", "prompt": "def f():\n", "entry_point": "f"})");
  CHECK(texts_of(spec_prompts({spec, code}, {}, 2)) ==
        Texts{"dialogue w1", "math g1", "rag r1", "HumanEval def f():\n", "dialogue m1", "rag r2"});
  CHECK(spec_prompts({code}, {}, 0)[0].id == 7);
  // By a task's name or by a published category's.
  CHECK(texts_of(spec_prompts({spec, code}, {"rag", "writing"}, 0)) ==
        Texts{"dialogue w1", "rag r1", "dialogue w2", "rag r2"});
  CHECK(texts_of(spec_prompts({spec, code}, {"dialogue"}, 1)) == Texts{"dialogue w1"});
  CHECK(spec_prompts({}, {}, 0).size() == builtin_bench_prompts().size());
  for (const BenchPrompt& prompt : spec_prompts({}, {}, 0)) CHECK(prompt.id > 0);
}

TEST_CASE_FIXTURE(Bench, "spec bench: greedy decoding comes first, sweeps last") {
  SpecOptions wanted = options();
  wanted.sweeps = {"ngram_trie:num_draft=2,4:prefix_length=2,3:ngram_size=8"};
  const StudyFile study = spec_study(wanted);
  REQUIRE(study.methods.size() == 4);
  CHECK(study.methods[0].name == "greedy");
  CHECK(study.baseline == "greedy");
  CHECK(study.methods[3].name == "sweep " + wanted.sweeps[0]);
  CHECK(is_spec_sweep(study.methods[3].name));
  CHECK(study_runs(study).size() == kPrompts.size() * (3 + 4));
  for (const char* bad : {"ngram_trie:num_draft=4", "ngram_trie",
                          "lookahead:ngram_size=3,5:window_size=3,7:guess_set_size=3,7"}) {
    CAPTURE(bad);
    wanted.sweeps = {bad};
    CHECK(test::refusal(ErrorCode::kInvalidArgument, [&] {
            spec_study(wanted);
          }).find("expected one or two settings with several values") != std::string::npos);
  }
  wanted.sweeps = {"ngram_trie:num_draft=4,x"};
  CHECK(test::refusal(ErrorCode::kInvalidArgument, [&] { spec_study(wanted); }).find("num_draft") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(Bench,
                  "spec bench: without a list every method that can draft here is measured") {
  const std::vector<std::string> names = default_spec_methods(model, {});
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  CHECK(has("ngram_trie"));
  CHECK(has("ngram_trie:num_draft=32"));
  CHECK(has("lookahead"));
  CHECK_FALSE(has("greedy"));
  CHECK_FALSE(has("rest"));             // its text has to be named
  CHECK_FALSE(has("universal_draft"));  // so has its model
  CHECK_FALSE(has("medusa"));           // none that comes with the program is for this model
  const std::vector<std::string> sweeps = standard_spec_sweeps(names);
  CHECK(sweeps.size() == 3);  // n-gram trie twice, Lookahead
  for (const std::string& sweep : sweeps) {
    SpecOptions wanted = options();
    wanted.sweeps = {sweep};
    CHECK_NOTHROW(spec_study(wanted));
  }
}

TEST_CASE_FIXTURE(Bench, "spec bench: a cell's figures are those of the rows and captures") {
  const std::vector<StudyRow> table = rows(options());
  const std::vector<SpecCell> cells = spec_cells(out, table);
  REQUIRE(cells.size() == 3 * 3);  // letters, more, all
  std::int64_t accepted_at_all = 0;
  for (const SpecCell& cell : cells) {
    CAPTURE(cell.method);
    CAPTURE(cell.task);
    double emitted = 0, forwards = 0, ms = 0, plain_ms = 0, plain_emitted = 0, kv = 0;
    std::int64_t reached = 0, accepted = 0;
    int prompts = 0;
    for (const StudyRow& row : table) {
      if (cell.task != kAllTasks && row.at("category") != cell.task) continue;
      const double time = row.at("prefill_ms").get<double>() + row.at("decode_ms").get<double>();
      if (row.at("name") == "greedy") {
        plain_ms += time;
        plain_emitted += row.at("emitted_tokens").get<double>();
      }
      if (row.at("name") != cell.method) continue;
      ++prompts;
      emitted += row.at("emitted_tokens").get<double>();
      forwards += row.at("target_forwards").get<double>();
      ms += time;
      kv +=
          row.at("kv_peak_held_tokens").get<double>() * row.at("kv_bytes_per_token").get<double>();
      const auto run = capture::Capture::open(
          (fs::path(out) / "captures" / row.at("capture").get<std::string>()).string());
      for (const capture::StepRow& step : run->steps()) accepted += step.accepted;
      for (const auto& depth : row.at("accepted_by_depth"))
        reached += depth.at("reached").get<std::int64_t>();
    }
    CHECK(cell.prompts == prompts);
    CHECK(cell.equal == prompts);
    CHECK(cell.tokens_per_forward() == doctest::Approx(emitted / forwards).epsilon(1e-12));
    CHECK(cell.accepted_per_step() == doctest::Approx(static_cast<double>(accepted) / cell.steps));
    CHECK(cell.speed() ==
          doctest::Approx((emitted / ms) / (plain_emitted / plain_ms)).epsilon(1e-9));
    CHECK(cell.kv_bytes == kv);
    CHECK(cell.draft_kv_bytes == 0);
    CHECK(cell.indexed == prompts);
    CHECK(cell.index_ms >= 0);
    // Every step is in the histogram, and every accepted draft at its depth, rank and source.
    std::int64_t steps = 0, of_steps = 0;
    for (std::size_t k = 0; k < cell.accepted_histogram.size(); ++k) {
      steps += cell.accepted_histogram[k];
      of_steps += static_cast<std::int64_t>(k) * cell.accepted_histogram[k];
    }
    CHECK(steps == static_cast<std::int64_t>(cell.steps));
    CHECK(of_steps == accepted);
    const auto sums = [](const viz::Acceptance& acceptance) {
      std::pair<std::int64_t, std::int64_t> sum;
      for (const viz::AcceptanceGroup& group : acceptance.groups)
        sum.first += group.n, sum.second += group.accepted;
      return sum;
    };
    CHECK(sums(cell.by_depth) == std::pair(reached, accepted));
    CHECK(sums(cell.by_rank).second == accepted);
    CHECK(sums(cell.by_source) == sums(cell.by_rank));
    if (cell.method == "greedy") {
      CHECK(cell.tokens_per_forward() == 1);
      CHECK(cell.speed() == doctest::Approx(1));
      CHECK(cell.by_source.groups.empty());
    } else if (cell.task == kAllTasks) {
      accepted_at_all += accepted;
      CHECK(cell.by_source.groups.size() == 1);
    }
  }
  CHECK(accepted_at_all > 5);
}

TEST_CASE_FIXTURE(Bench, "spec bench: a sweep has a cell for each combination, over all tasks") {
  SpecOptions wanted = options();
  wanted.methods = {};
  wanted.sweeps = {"ngram_trie:num_draft=2,6:prefix_length=1,2,3:eos_token_id=-1"};
  const std::vector<StudyRow> table = rows(wanted);
  const std::vector<SpecCell> cells = spec_cells(out, table);
  REQUIRE(cells.size() == 3 + 6);  // greedy's tasks, the grid
  std::set<std::string> seen;
  for (std::size_t i = 3; i < cells.size(); ++i) {
    const SpecCell& cell = cells[i];
    CHECK(cell.task == kAllTasks);
    CHECK(cell.prompts == 3);
    CHECK(cell.settings.size() == 2);
    seen.insert(cell.settings.dump());
    double emitted = 0, forwards = 0;
    for (const StudyRow& row : table)
      if (row.at("name") == cell.method && row.at("num_draft") == cell.settings.at("num_draft") &&
          row.at("prefix_length") == cell.settings.at("prefix_length")) {
        emitted += row.at("emitted_tokens").get<double>();
        forwards += row.at("target_forwards").get<double>();
      }
    CHECK(cell.tokens_per_forward() == doctest::Approx(emitted / forwards).epsilon(1e-12));
  }
  CHECK(seen.size() == 6);
  const auto plots = spec_plots(cells);
  REQUIRE(plots.size() == 1);
  CHECK(plots[0]->info().name == "spec-sweep-1");
  CHECK(plots[0]->csv({}).starts_with(
      "num_draft,prefix_length,tokens a forward,speed over plain decoding\n2,1,"));
  // A cell of fewer prompts than the others stays empty.
  std::vector<SpecCell> stopped = cells;
  stopped.back().prompts = 2;
  const std::string grid = spec_plots(stopped)[0]->csv({});
  CHECK(grid.ends_with("\n6,3,,\n"));
  CHECK(grid.find("\n6,2,,\n") == std::string::npos);
  const SpecTables tables = spec_tables(cells);
  CHECK(tables[3].first == "spec_sweeps");
  CHECK(tables[3].second.size() == 6);
  CHECK(tables[3].second[0].at("settings") == "num_draft=2:prefix_length=1");
}

TEST_CASE_FIXTURE(
    Bench, "spec bench: prompts without a plain run are left out, and nothing is shown twice") {
  std::vector<StudyRow> table = rows(options());
  std::erase_if(table, [](const StudyRow& row) {
    return row.at("name") == "greedy" && row.at("category") == "more";
  });
  for (const SpecCell& cell : spec_cells(out, table)) {
    CHECK(cell.task != "more");
    CHECK(cell.prompts == 2);
  }
  const SpecTables summary = spec_summary(spec_cells(out, rows(options())));
  REQUIRE(summary.size() == 3);
  CHECK(summary[0].second.size() == 3);  // methods
  CHECK(
      summary[0].second[0] ==
      nlohmann::ordered_json{{"method", "greedy"}, {"letters", 1.0}, {"more", 1.0}, {"all", 1.0}});
  CHECK(summary[2].second.size() == 3);
  const auto plots = spec_plots(spec_cells(out, rows(options())));
  REQUIRE(plots.size() == 3);
  CHECK(plots[0]->info().name == "spec-speed");
  CHECK(plots[1]->info().name == "spec-tokens");
  CHECK(plots[2]->info().name == "spec-accepted");
  // A path is no name for a row of a plot.
  std::vector<SpecCell> from_file = spec_cells(out, rows(options()));
  for (SpecCell& cell : from_file)
    if (cell.method != "greedy") cell.method = "rest:datastore=/data/a/stories.tsds:num_draft=3";
  for (const auto& plot : spec_plots(from_file)) {
    CHECK(plot->csv({}).find("rest:datastore=stories.tsds:num_draft=3") != std::string::npos);
    CHECK(plot->csv({}).find("/data") == std::string::npos);
  }
}

}  // namespace
}  // namespace triescope::app::test_spec_bench
