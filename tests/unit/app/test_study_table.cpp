// A study's table: repeats folded, ratios, means with intervals, and the formats; figures by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "app/study/study_figures.h"
#include "app/study/study_table.h"
#include "core/base/error.h"
#include "tests/support/refusal.h"

namespace triescope::app::test_study_table {
namespace {

using nlohmann::json;

StudyRow run(const std::string& name, const std::string& category, int prompt, int repeat,
             double rate, double per_forward, int drafts = 0) {
  StudyRow row = {{"name", name},
                  {"category", category},
                  {"prompt", prompt},
                  {"repeat", repeat},
                  {"status", "done"},
                  {"model", "m"},
                  {"seed", 0},
                  {"text", "the text"},
                  {"settings", json::object()},
                  {"tokens_per_second", rate},
                  {"tokens_per_forward", per_forward},
                  {"accepted_by_depth", {{{"depth", 1}, {"reached", 10}, {"accepted", drafts}}}}};
  json key = {{"name", name}, {"prompt", prompt}, {"repeat", repeat}};
  if (name == "ngram") {
    row["num_draft"] = 4;
    row["settings"]["num_draft"] = 4;
    key["settings"] = row["settings"];
  }
  row["key"] = key.dump();
  return row;
}

// Greedy and a drafting method over two prompts, three times each.
std::vector<StudyRow> runs() {
  return {run("greedy", "qa", 1, 1, 100, 1),  run("ngram", "qa", 1, 1, 150, 2, 5),
          run("greedy", "rag", 2, 1, 200, 1), run("ngram", "rag", 2, 1, 500, 3, 8),
          run("greedy", "qa", 1, 2, 90, 1),   run("ngram", "qa", 1, 2, 160, 2, 5),
          run("greedy", "rag", 2, 2, 210, 1), run("ngram", "rag", 2, 2, 100, 3, 8),
          run("greedy", "qa", 1, 3, 120, 1),  run("ngram", "qa", 1, 3, 140, 2, 5),
          run("greedy", "rag", 2, 3, 190, 1), run("ngram", "rag", 2, 3, 510, 3, 8)};
}

StudyTable table_of(const StudyTableOptions& options, bool whole = false) {
  return study_table(runs(), "greedy", options, whole);
}

TEST_CASE("study table: repeats are one row, with the median and both ends") {
  const std::vector<StudyRow> rows = folded_rows(runs(), "greedy");
  REQUIRE(rows.size() == 4);
  const StudyRow& ngram = rows[3];  // rag
  CHECK(ngram.at("repeats") == 3);
  CHECK(ngram.at("tokens_per_second") == 500);
  CHECK(ngram.at("tokens_per_second_low") == 100);
  CHECK(ngram.at("tokens_per_second_high") == 510);
  // Over those of the same turn: 500 / 200, 100 / 210, 510 / 190.
  CHECK(ngram.at("speedup").get<double>() == doctest::Approx(2.5));
  CHECK(ngram.at("speedup_low").get<double>() == doctest::Approx(100.0 / 210));
  CHECK(ngram.at("speedup_high").get<double>() == doctest::Approx(510.0 / 190));
  CHECK(study_cell(ngram, "tokens_per_second", " ± ") == "500 [100, 510]");
  CHECK(study_cell(ngram, "speedup", " ± ") == "2.50 [0.48, 2.68]");
  CHECK(study_cell(ngram, "speedup", "") == "2.50");
  CHECK(ngram.at("same_text") == true);
  CHECK(ngram.at("accept_1").get<double>() == doctest::Approx(0.8));
  CHECK(ngram.at("reached_1") == 10);
  CHECK(rows[0].at("speedup") == 1);
  CHECK(folded_rows(runs(), "")[3].at("speedup").is_null());
}

TEST_CASE("study table: a speed-up is between repeats that ran in the same turn") {
  // A slow second turn: both take four times as long, and the ratio stays.
  const std::vector<StudyRow> rows =
      folded_rows({run("greedy", "qa", 1, 1, 100, 1), run("ngram", "qa", 1, 1, 150, 2, 5),
                   run("greedy", "qa", 1, 2, 25, 1), run("ngram", "qa", 1, 2, 37.5, 2, 5)},
                  "greedy");
  CHECK(rows[1].at("tokens_per_second_low") == 37.5);
  CHECK(rows[1].at("speedup_low") == 1.5);
  CHECK(rows[1].at("speedup_high") == 1.5);
}

TEST_CASE("study table: a group has the mean of its rows and half of the interval") {
  const std::vector<StudyRow> groups = grouped_rows(folded_rows(runs(), "greedy"), {"name"});
  REQUIRE(groups.size() == 2);
  const StudyRow& ngram = groups[1];
  CHECK(ngram.at("name") == "ngram");
  CHECK(ngram.at("runs") == 2);
  CHECK(ngram.at("tokens_per_forward") == 2.5);
  // Two values, 2 and 3: their deviation is sqrt(0.5); t(0.975; 1) = 12.706.
  CHECK(ngram.at("tokens_per_forward_ci").get<double>() ==
        doctest::Approx(12.706 * std::sqrt(0.5) / std::sqrt(2.0)));
  CHECK(ngram.at("speedup").get<double>() == doctest::Approx((1.5 + 2.5) / 2));
  CHECK(ngram.at("same_text") == 1);
  // 13 of 20 places, with Wilson's interval.
  CHECK(ngram.at("accept_1").get<double>() == doctest::Approx(0.65));
  CHECK(ngram.at("accept_1_low").get<double>() == doctest::Approx(0.4329).epsilon(0.001));
  CHECK(ngram.at("accept_1_high").get<double>() == doctest::Approx(0.8188).epsilon(0.001));
}

TEST_CASE("study table: an interval is Student's, and the median that of the middle") {
  CHECK(std::isnan(mean_half_width({1})));
  CHECK(mean_half_width({5, 5, 5}) == 0);
  // scipy.stats.t.interval(0.95, 9, scale=scipy.stats.sem(range(10))): 2.1658...
  CHECK(mean_half_width({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) == doctest::Approx(2.1659).epsilon(0.0005));
  std::vector<double> many;
  for (int i = 0; i < 41; ++i) many.push_back(i);  // t(0.975; 40) = 2.0211
  CHECK(mean_half_width(many) == doctest::Approx(2.0211 * 11.9791 / std::sqrt(41)).epsilon(0.001));
  CHECK(median_of({3, 1, 2}) == 2);
  CHECK(median_of({4, 1, 2, 3}) == 2.5);
  CHECK(std::isnan(median_of({})));
}

TEST_CASE("study table: a filter is an expression over columns") {
  CHECK(table_of({.filter = "speedup > 1.2"}).rows.size() == 2);
  CHECK(table_of({.filter = "name = 'ngram' and category = 'rag'"}).rows.size() == 1);
  // Greedy has no drafts to set: no comparison with nothing holds.
  CHECK(table_of({.filter = "num_draft = 4"}).rows.size() == 2);
  CHECK(table_of({.filter = "num_draft < 100"}).rows.size() == 2);
  CHECK(table_of({.filter = "speedup > 100"}).rows.empty());
  const std::string said =
      test::refusal(ErrorCode::kCorruption, [] { table_of({.filter = "speed_up > 1"}); });
  CHECK(
      test::has(said, "column 1: 'speed_up' is not a column of the table; did you mean speedup?"));
}

TEST_CASE("study table: it is sorted either way, and empty cells come last") {
  const auto order = [](const std::string& sort) {
    std::string names;
    for (const StudyRow& row : table_of({.sort = sort}).rows)
      names += row.at("name").get<std::string>().substr(0, 1) + row.at("prompt").dump();
    return names;
  };
  CHECK(order("tokens_per_second") == "g1n1g2n2");
  CHECK(order("-tokens_per_second") == "n2g2n1g1");
  CHECK(order("num_draft").substr(0, 4) == "n1n2");
  CHECK(order("-num_draft").substr(0, 4) == "n1n2");
  CHECK(test::has(test::refusal(ErrorCode::kInvalidArgument, [] { table_of({.sort = "nme"}); }),
                  "--sort: the table has no column 'nme'; did you mean name?"));
  CHECK(test::has(
      test::refusal(ErrorCode::kInvalidArgument, [] { table_of({.group_by = {"speeds"}}); }),
      "--group-by: the table has no column 'speeds'"));
}

TEST_CASE("study table: each format says the same") {
  const StudyTable table = table_of(
      {.group_by = {"name"}, .columns = {"name", "runs", "tokens_per_forward", "same_text"}});
  CHECK(study_text(table) ==
        "name    runs  tokens_per_forward  same_text\n"
        "greedy     2               1 ± 0      1 ± 0\n"
        "ngram      2         2.50 ± 6.35      1 ± 0\n");
  CHECK(study_csv(table) ==
        "name,runs,tokens_per_forward,same_text\ngreedy,2,1.0,1.0\nngram,2,2.5,1.0\n");
  CHECK(study_jsonl(table) ==
        "{\"name\":\"greedy\",\"runs\":2,\"tokens_per_forward\":1.0,\"same_text\":1.0}\n"
        "{\"name\":\"ngram\",\"runs\":2,\"tokens_per_forward\":2.5,\"same_text\":1.0}\n");
  CHECK(study_latex(table) ==
        "\\begin{tabular}{lrrr}\n\\hline\n"
        "name & runs & tokens\\_per\\_forward & same\\_text \\\\\n\\hline\n"
        "greedy & $2$ & $1 \\pm 0$ & $1 \\pm 0$ \\\\\n"
        "ngram & $2$ & $2.50 \\pm 6.35$ & $1 \\pm 0$ \\\\\n\\hline\n\\end{tabular}\n");
}

TEST_CASE("study table: without a choice it shows what tells rows apart, whole all of it") {
  CHECK(table_of({}).columns == std::vector<std::string>{"name", "category", "prompt", "repeats",
                                                         "tokens_per_forward", "tokens_per_second",
                                                         "speedup", "same_text"});
  const std::vector<std::string> whole = table_of({}, /*whole=*/true).columns;
  for (const char* name : {"accept_1", "reached_1", "tokens_per_second_low", "num_draft"}) {
    CAPTURE(name);
    CHECK(std::find(whole.begin(), whole.end(), name) != whole.end());
  }
  CHECK(std::find(whole.begin(), whole.end(), "text") == whole.end());
}

}  // namespace
}  // namespace triescope::app::test_study_table
