// The sheets beside the table of runs: chosen runs side by side, and where a study's drafts were accepted.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "app/window/workspace/runs_acceptance.h"
#include "app/window/workspace/runs_side_by_side.h"
#include "app/window/workspace/workspace.h"
#include "core/base/text_file.h"
#include "core/capture/sqlite_db.h"
#include "tests/unit/app/study_rig.h"
#include "viz/query/text_parting.h"

namespace triescope::app::test_runs_sheets {
namespace {

namespace fs = std::filesystem;

struct Study : MadeStudy {
  Study() {
    workspace.open_path(out);
    look();
  }
  Workspace workspace{Preferences{}, [] {}};
  RunsView& view = workspace.runs;
  double clock = 0;
  // Until nothing is being counted any more.
  void look() {
    for (int i = 0; i < 2000; ++i) {
      clock += 2;  // s
      view.update(clock);
      if (!view.busy()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    FAIL("a sheet is never ready");
  }
  std::string text_of(const std::string& name) const {
    return read_text_file((folder.path() / name).string(), "a file");
  }
};

TEST_CASE_FIXTURE(Study,
                  "runs side by side: more than two chosen runs are columns, with partings") {
  for (const std::size_t row : {0, 1, 2}) view.choose(row, true);
  view.compare_chosen();
  look();
  CHECK(view.is_open());
  REQUIRE(view.sheet() == RunsSheet::kSideBySide);
  const RunsBeside& beside = view.side_by_side().beside();
  CHECK(beside.names.size() == 3);
  for (const BesideFigure& figure : beside.figures)
    if (figure.column == "tokens_per_forward")
      for (std::size_t i = 0; i < 3; ++i)
        CHECK(figure.values[i] == view.table().rows[i].at("tokens_per_forward"));
  const TextPartings& partings = view.side_by_side().partings();
  REQUIRE(partings.size() == 2);
  const auto capture_of = [&](std::size_t row) {
    return capture::Capture::open(
        capture_path(out, view.table().rows[row].at("capture").get<std::string>()));
  };
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE(partings[i]);
    const viz::TextParting expected = viz::text_parting(*capture_of(0), *capture_of(i + 1));
    CHECK(partings[i]->same_prompt == expected.same_prompt);
    CHECK(partings[i]->same_text == expected.same_text);
    CHECK(partings[i]->step == expected.step);
  }
  view.save((folder.path() / "beside.csv").string());
  CHECK(text_of("beside.csv") == study_csv(beside_table(beside, partings)));
  // A run of the sheet beside the first one, as the panels show two.
  view.asks_to_compare(2);
  view.open_asked();
  CHECK_FALSE(view.is_open());
  REQUIRE(workspace.comparison.partner());
  CHECK(workspace.comparison.partner()->path.ends_with(
      view.table().rows[2].at("capture").get<std::string>()));
}

TEST_CASE_FIXTURE(Study, "runs side by side: a question that leaves one run leads to the table") {
  CHECK_FALSE(view.lacks(RunsSheet::kSideBySide).empty());
  view.choose(0, true);
  view.choose(1, true);
  REQUIRE(view.lacks(RunsSheet::kSideBySide).empty());
  view.show_sheet(RunsSheet::kSideBySide);
  look();
  CHECK(view.side_by_side().beside().names.size() == 2);
  view.filter = "name = 'greedy' and category = 'letters'";
  look();
  CHECK(view.sheet() == RunsSheet::kTable);
}

TEST_CASE_FIXTURE(Study, "runs acceptance: the bars are those of the command, over what is asked") {
  view.acceptance().by = viz::AcceptanceBy::kDepth;
  view.show_sheet(RunsSheet::kAcceptance);
  CHECK(view.busy());
  look();
  const RunsAcceptance& sheet = view.acceptance();
  const auto check = [&](const std::vector<StudyRow>& rows) {
    const auto expected = study_acceptance(out, rows, sheet.shown_by());
    REQUIRE(sheet.methods().size() == expected.size());
    for (std::size_t m = 0; m < expected.size(); ++m) {
      CHECK(sheet.methods()[m].name == expected[m].name);
      CHECK(sheet.methods()[m].runs == expected[m].runs);
      const auto &own = sheet.methods()[m].acceptance.groups,
                 &other = expected[m].acceptance.groups;
      REQUIRE(own.size() == other.size());
      for (std::size_t g = 0; g < own.size(); ++g) {
        CHECK(own[g].label == other[g].label);
        CHECK(own[g].n == other[g].n);
        CHECK(own[g].accepted == other[g].accepted);
      }
    }
  };
  auto rows = StudyStore(out, /*writes=*/false).rows();
  check(rows);
  view.acceptance().by = viz::AcceptanceBy::kRank;
  look();
  CHECK(sheet.shown_by() == viz::AcceptanceBy::kRank);
  check(rows);
  view.filter = "category = 'more'";
  look();
  std::erase_if(rows, [](const StudyRow& row) { return row.at("category") != "more"; });
  check(rows);
}

TEST_CASE_FIXTURE(Study, "runs acceptance: a bar lists its runs, and one opens where it refused") {
  view.show_sheet(RunsSheet::kAcceptance);
  look();
  RunsAcceptance& sheet = view.acceptance();
  std::size_t method = 0;
  while (sheet.methods().at(method).acceptance.groups.empty()) ++method;
  const auto expected = study_acceptance(out, StudyStore(out, false).rows(), sheet.shown_by());
  CHECK(sheet.behind().empty());
  sheet.choose(method, 0);
  REQUIRE(sheet.is_chosen(method, 0));
  const std::vector<WorstRun>& behind = expected[method].behind[0];
  REQUIRE(sheet.behind().size() == behind.size());
  CHECK(sheet.behind().front().capture == behind.front().capture);
  CHECK(sheet.choice_words() ==
        expected[method].name + ", " + expected[method].acceptance.groups[0].label);
  // The table of these runs alone, and of all again.
  view.show_behind();
  look();
  CHECK(view.sheet() == RunsSheet::kTable);
  CHECK(view.table().rows.size() == behind.size());
  CHECK(view.only_words() == sheet.choice_words());
  view.show_all();
  look();
  CHECK(view.table().rows.size() == 6);
  view.asks_to_open_case(0);
  view.open_asked();
  CHECK_FALSE(view.is_open());
  CHECK(workspace.active()->path.ends_with(behind.front().capture));
  if (behind.front().step >= 0)
    CHECK(workspace.active()->cursor ==
          capture::make_tick(behind.front().step + 1, capture::Phase::kDraft));
}

TEST_CASE_FIXTURE(Study, "runs acceptance: saved as numbers and as a picture with its provenance") {
  view.show_sheet(RunsSheet::kAcceptance);
  look();
  CHECK(view.save_path().ends_with("acceptance.svg"));
  view.save((folder.path() / "bars.csv").string());
  CHECK(text_of("bars.csv")
            .find(viz::acceptance_sheet_csv(view.acceptance().shown_by(),
                                            view.acceptance().methods())) != std::string::npos);
  view.save((folder.path() / "bars.svg").string());
  CHECK(text_of("bars.svg").find("Lookup against greedy") != std::string::npos);
  // The picture's date is that of the latest run that was counted, which a repeat may be.
  capture::Database db((fs::path(out) / "study.sqlite").string(), SQLITE_OPEN_READWRITE);
  db.execute(
      "update run set finished_at = '2031-05-06T07:08:09Z' where repeat = 2 and category = 'more'");
  db.execute("update run set finished_at = '2032-01-01T00:00:00Z' where category = 'letters'");
  view.show_study(out);
  view.filter = "category = 'more'";
  look();
  view.save((folder.path() / "more.svg").string());
  CHECK(text_of("more.svg").find("2031-05-06T07:08:09Z") != std::string::npos);
  const std::size_t before = workspace.log.problems.size();
  view.save((folder.path() / "bars.docx").string());
  CHECK(workspace.log.problems.size() == before + 1);
}

TEST_CASE_FIXTURE(Study, "runs acceptance: the runs of the window have no sheet of a study") {
  view.show_open_runs();
  CHECK_FALSE(view.lacks(RunsSheet::kAcceptance).empty());
  CHECK(view.sheet() == RunsSheet::kTable);
}

}  // namespace
}  // namespace triescope::app::test_runs_sheets
