// The table of runs in the window: a study's folder, while it grows too, and the runs that are open.
#include "app/window/workspace/runs_view.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "app/window/commands.h"
#include "tests/unit/app/study_rig.h"
#include "tests/unit/viz/captures.h"

namespace triescope::app::test_runs_view {
namespace {

namespace fs = std::filesystem;

class Until final : public StudyWatcher {
 public:
  explicit Until(int runs) : runs_(runs) {}
  void ended(const StudyRun&, const nlohmann::json&) override {
    if (++done_ == runs_) source.request_stop();
  }
  std::stop_source source;

 private:
  int runs_, done_ = 0;
};

struct Shown : StudyRig {
  void make(int runs) {
    Until watcher(runs);
    const StudyFile study = read(kSmallStudy);
    run_study(study, study_runs(study), out, watcher, watcher.source.get_token(), "");
  }
  Workspace workspace{Preferences{}, [] {}};
  RunsView& view = workspace.runs;
  double clock = 0;
  const StudyTable& table() {
    clock += 2;  // s
    view.update(clock);
    return view.table();
  }
};

std::vector<std::string> cells(const StudyTable& table, const std::string& column) {
  std::vector<std::string> all;
  for (const StudyRow& row : table.rows) all.push_back(study_cell(row, column, ""));
  return all;
}

TEST_CASE_FIXTURE(Shown, "runs: a study's folder is opened like a file, and shown while it grows") {
  make(3);
  workspace.open_path(out);
  REQUIRE(workspace.log.problems.empty());
  CHECK(view.is_open());
  CHECK(table().rows.size() == 3);
  make(1000);
  CHECK(table().rows.size() == 6);  // three methods, two prompts; repeats are one row
  CHECK(view.runs() == 12);
  workspace.open_path((fs::path(out) / "study.sqlite").string());
  CHECK(view.folder() == out);
  workspace.open_path(folder.path());  // a folder, but no study: taken as a model's
  CHECK(view.folder() == out);
}

TEST_CASE_FIXTURE(
    Shown, "runs: sorted, filtered, grouped; a wrong question says where and keeps the table") {
  make(1000);
  workspace.open_path(out);
  view.sort_by("tokens_per_forward");
  CHECK(view.sort == "-tokens_per_forward");
  auto sorted = cells(table(), "tokens_per_forward");
  CHECK(std::ranges::is_sorted(sorted, std::greater<>()));
  view.sort_by("tokens_per_forward");
  sorted = cells(table(), "tokens_per_forward");
  CHECK(std::ranges::is_sorted(sorted));
  view.sort_by("tokens_per_forward");
  CHECK(view.sort == "");
  view.filter = "category = 'more' and name = 'lookup'";
  CHECK(table().rows.size() == 2);
  view.filter = "categry = 'more'";
  CHECK(table().rows.size() == 2);
  CHECK(view.problem().find("did you mean category?") != std::string::npos);
  view.filter = "";
  view.group_by = " name , category";
  CHECK(table().rows.size() == 4);
  CHECK(view.problem() == "");
  CHECK(view.is_group(0));
  // From a group to its runs.
  std::size_t lookup = 0;
  while (table().rows[lookup].at("name") != "lookup") ++lookup;
  view.open_row(lookup);
  CHECK(view.group_by == "");
  CHECK(table().rows.size() == 2);
  for (const StudyRow& row : table().rows) CHECK(row.at("name") == "lookup");
}

TEST_CASE_FIXTURE(
    Shown,
    "runs: a row opens its capture, two chosen ones are compared, and the table comes back") {
  make(1000);
  workspace.open_path(out);
  UiState ui;
  CommandTable commands{workspace, ui};
  table();
  CHECK_FALSE(view.can_compare());
  view.choose(0, true);
  view.choose(3, true);
  CHECK(view.is_chosen(3));
  REQUIRE(view.can_compare());
  const std::string left = view.table().rows[0].at("capture"),
                    right = view.table().rows[3].at("capture");
  view.compare_chosen();
  CHECK_FALSE(view.is_open());
  REQUIRE(workspace.comparison.partner());
  CHECK(workspace.active()->path.ends_with(left));
  CHECK(workspace.comparison.partner()->path.ends_with(right));
  commands.find("runs-table")->run();
  CHECK(view.is_open());
  CHECK(view.is_chosen(0));
  const std::string third = table().rows[2].at("capture");
  view.open_row(2);
  CHECK_FALSE(view.is_open());
  CHECK(workspace.active()->path.ends_with(third));
}

TEST_CASE_FIXTURE(Shown, "runs: those open in the window, with the figures of their captures") {
  workspace.documents.open(test::draft_capture().path());
  workspace.documents.open(test::beam_capture().path());
  UiState ui;
  CommandTable commands{workspace, ui};
  commands.find("open-runs")->run();
  REQUIRE(table().rows.size() == 2);
  CHECK(view.folder() == "");
  CHECK(table().rows[0].at("steps") == test::draft_capture().steps().size());
  // Whoever opens a run sees it.
  workspace.documents.activate(workspace.documents.all()[0].get());
  table();
  CHECK_FALSE(view.is_open());
}

TEST_CASE_FIXTURE(Shown, "runs: saved by the name's ending as the study prints it") {
  make(1000);
  workspace.open_path(out);
  table();
  const auto text_of = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string csv = (folder.path() / "t.csv").string(),
                    tex = (folder.path() / "t.tex").string();
  view.save(csv);
  view.save(tex);
  StudyStore again(out, /*writes=*/false);
  const auto rows = again.rows();
  const std::string baseline = again.fact("baseline");
  CHECK(text_of(csv) == study_csv(study_table(rows, baseline, {}, /*whole=*/true)));
  CHECK(text_of(tex) == study_latex(study_table(rows, baseline, {}, /*whole=*/false)));
  const std::size_t before = workspace.log.problems.size();
  view.save((folder.path() / "t.docx").string());
  CHECK(workspace.log.problems.size() == before + 1);
}

}  // namespace
}  // namespace triescope::app::test_runs_view
