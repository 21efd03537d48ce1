// The decision panel's table has the panel's figures, for every kind of decision.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/narration/reason_text.h"
#include "viz/panels/beam_table.h"
#include "viz/panels/decision_csv.h"
#include "viz/panels/verdict_list.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::test::test_decision_csv {
namespace {

using Row = std::map<std::string, std::string>;

// Splits a line into fields; knows plain quotes only, which is enough for these tables.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

std::vector<Row> rows_of(const std::string& csv) {
  std::istringstream in(csv);
  std::string line;
  std::getline(in, line);
  const auto names = fields_of(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const auto fields = fields_of(line);
    REQUIRE(fields.size() == names.size());
    Row row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = fields[i];
    rows.push_back(row);
  }
  return rows;
}

TEST_CASE("decision csv: beams: every candidate of the table, then the finished hypotheses") {
  const Capture& run = beam_capture();
  const viz::Scene scene = scene_at(run, run.end_tick());
  const auto decision = viz::beam_decision(run, scene.cursor);
  const auto finished = viz::finished_hypotheses(scene);
  const auto rows = rows_of(viz::make_panel("verdict")->csv(scene));
  REQUIRE(decision.choices.size() > 3);
  REQUIRE(finished.size() > 3);
  const auto verdicts = viz::VerdictList::rows_of(scene);
  REQUIRE(verdicts.size() > 0);
  REQUIRE(rows.size() == decision.choices.size() + finished.size() + verdicts.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    Row row = rows[decision.choices.size() + finished.size() + i];
    CHECK(row["table"] == "verdicts");
    CHECK(row["node"] == std::to_string(verdicts[i].node));
    CHECK(row["reason"] == viz::reason_text(verdicts[i], run));
  }
  int above = 0, below = 0;
  for (std::size_t i = 0; i < decision.choices.size(); ++i) {
    CAPTURE(i);
    const auto& choice = decision.choices[i];
    Row row = rows[i];
    CHECK(row["table"] == "candidates");
    CHECK(row["step"] == std::to_string(decision.step));
    CHECK(row["rank"] == std::to_string(i + 1));
    CHECK(row["token"] == std::to_string(choice.token));
    CHECK(row["parent"] == std::to_string(choice.parent));
    CHECK(row["node"] == (choice.child < 0 ? "" : std::to_string(choice.child)));
    CHECK(row["verdict"] == viz::fate_text(choice.fate));
    CHECK(row["score"] == viz::csv_number(choice.score));
    CHECK(row["p"] == viz::csv_number(std::exp(choice.logprob)));
    if (std::isnan(choice.gap)) continue;
    CHECK(row["gap"] == viz::csv_number(choice.chosen() ? choice.gap : -choice.gap));
    (choice.chosen() ? above : below) += 1;
  }
  CHECK(above > 0);
  CHECK(below > 0);
  for (std::size_t i = 0; i < finished.size(); ++i) {
    Row row = rows[decision.choices.size() + i];
    CHECK(row["table"] == "hypotheses");
    CHECK(row["final_score"] == viz::csv_number(finished[i].score));
    CHECK(row["node"] == std::to_string(finished[i].node));
    CHECK(row["rank"] == "");
  }
}

TEST_CASE("decision csv: drafts: every verdict, ranks from 1, and the draw in their place") {
  const Capture& run = draft_capture();
  bool drawn_too = false, ranked = false;
  for (const StepRow& step : run.steps()) {
    const viz::Scene scene = scene_at(run, make_tick(step.step + 1, Phase::kDraft));
    const auto verdicts = viz::VerdictList::path_first(viz::VerdictList::rows_of(scene));
    if (step.drafted == 0) continue;
    const auto rows = rows_of(viz::make_panel("verdict")->csv(scene));
    REQUIRE(rows.size() >= verdicts.size());
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      Row row = rows[i];
      CHECK(row["table"] == "drafts");
      CHECK(row["node"] == std::to_string(verdicts[i].node));
      CHECK(row["verdict"] == to_string(verdicts[i].verdict));
      CHECK(row["rank"] == (verdicts[i].rank < 0 ? "" : std::to_string(verdicts[i].rank + 1)));
      CHECK(row["p"] == (verdicts[i].p < 0 ? "" : viz::csv_number(verdicts[i].p)));
      ranked |= row["rank"] == "1";
    }
    for (std::size_t i = verdicts.size(); i < rows.size(); ++i) {
      Row row = rows[i];
      CHECK(row["table"] == "draw");
      drawn_too = true;
    }
  }
  CHECK(drawn_too);
  CHECK(ranked);
}

TEST_CASE("decision csv: sampling: a row a token, with its stages and the stretch that u fell in") {
  const auto opened = make_capture([](Recorder& out) {
    out.write({.run = synthetic_info(3, "sample", "Sampling", "recycle")});
    for (std::int32_t token = 0; token < 8; ++token)
      out.write({.pieces = {{token, synthetic_pieces()[static_cast<std::size_t>(token)]}}});
  });
  const viz::Scene scene = scene_at(*opened->capture, 0);
  viz::DrawDecision decision;
  decision.step = 4;
  decision.node = 9;
  decision.decided = true;
  decision.token = 5;
  decision.child = 10;
  decision.u = 0.25f;
  decision.stages = {Stage::kTemperature, Stage::kTopK};
  decision.tokens = {{.token = 5, .p = {0.5f, 0.625f, 0.75f}, .drawn_p = 0.75f, .at = 0.125f},
                     {.token = 1, .p = {0.25f, 0.125f, 0}}};
  const std::string csv = viz::decision_csv_head() + viz::draw_csv(decision, scene);
  CHECK(csv ==
        "step,node,parent,text,source,verdict,p,q,u,rank,score,gap,replacement,reason,"
        "table,token,p_final,stages,from,to,final_score,depth,drafter_q,drafter_rank,drafter_score,"
        "drafter_reason\n"
        "4,10,9,·Paris,,chosen,0.5,,0.25,1,,,,'·Paris': u 0.250 lies in its 0.125 to 0.875,"
        "draw,5,0.75,temperature 0.625; top-k 0.75,0.125,0.875,,,,,,\n"
        "4,,9,·capital,,cut,0.25,,,2,,,,,draw,1,0,temperature 0.125; top-k 0,,,,,,,,\n");
  decision.gumbel = true;
  decision.u = -1;
  const auto rows = rows_of(viz::decision_csv_head() + viz::draw_csv(decision, scene));
  Row row = rows[0];
  CHECK(row["score"] == "0.125");  // log p′ + Gumbel noise
  CHECK(row["from"] == "");
  CHECK(row["u"] == "");
}

TEST_CASE("decision csv: nothing decided yet is a table without rows") {
  viz::Scene scene;
  CHECK(viz::make_panel("verdict")->csv(scene) == viz::decision_csv_head());
}

}  // namespace
}  // namespace triescope::test::test_decision_csv
