// The decision panel: its tables, its figures, and clicks on its rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/draw/clause_text.h"
#include "viz/narration/reason_text.h"
#include "viz/panels/beam_table.h"
#include "viz/panels/panels.h"
#include "viz/panels/verdict_list.h"
#include "viz/query/beam_decision.h"
#include "viz/query/draft_causes.h"
#include "viz/text/number_text.h"
#include "viz/text/spoken_text.h"
#include "viz/text/token_text.h"

namespace triescope::test::test_decision_panel {
namespace {

constexpr viz::Rect kArea{0, 0, 900, 700};

TEST_CASE("decision panel: beams: every candidate has its rank, Σ log p and Δ, the cut is a line") {
  const Capture& run = beam_capture();
  const auto panel = viz::make_panel("verdict");
  CHECK(panel->info().title == "Decision");
  const viz::Scene scene = scene_at(run, make_tick(5, Phase::kCommit));
  const auto decision = viz::beam_decision(run, scene.cursor);
  REQUIRE(decision.choices.size() == 18);
  CHECK(decision.cut == 3);
  const auto canvas = drawn(*panel, scene, {0, 0, 900, 900});
  CHECK(find(canvas, "step 5: 3 of 18 candidates chosen by Σ log p"));
  for (std::size_t i = 0; i < decision.choices.size(); ++i) {
    CAPTURE(i);
    const auto& choice = decision.choices[i];
    CHECK(find(canvas, std::to_string(i + 1)));
    CHECK(find(canvas, viz::logprob_text(choice.score)));
    CHECK(find(canvas, (i < 3 ? "+" : "-") + viz::logprob_text(choice.gap)));
    // The decision's own figures agree.
    if (choice.child < 0) continue;
    const auto verdict = run.verdict_at(choice.child, make_tick(5, Phase::kCommit));
    REQUIRE(verdict);
    CHECK(choice.score == doctest::Approx(verdict->score));
    CHECK(choice.gap == doctest::Approx(verdict->gap));
  }
}

TEST_CASE("decision panel: a click on a chosen row locks its node, on another one its parent") {
  const Capture& run = beam_capture();
  const auto panel = viz::make_panel("verdict");
  const viz::Scene scene = scene_at(run, make_tick(5, Phase::kCommit));
  const auto decision = viz::beam_decision(run, scene.cursor);
  const viz::Rect area{0, 0, 900, 900};
  const auto canvas = drawn(*panel, scene, area);
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}, std::size_t{7}}) {
    CAPTURE(i);
    const auto& choice = decision.choices[i];
    const auto* text = find(canvas, viz::logprob_text(choice.score));
    REQUIRE(text);
    viz::Input in = mouse_over(*text);
    CHECK_FALSE(panel->input(in, area, scene).lock);
    in.clicked = true;
    const auto reaction = panel->input(in, area, scene);
    REQUIRE(reaction.lock);
    CHECK(*reaction.lock == (choice.child >= 0 ? choice.child : choice.parent));
    CHECK(reaction.hover == reaction.lock);
    REQUIRE(reaction.tooltip.size() >= 4);
    CHECK(reaction.tooltip[0].starts_with("rank " + std::to_string(i + 1) + "  "));
  }
}

TEST_CASE("decision panel: the cut lies between two rows; a parent is named by its rank before") {
  const Capture& run = beam_capture();
  const viz::Scene scene = scene_at(run, make_tick(5, Phase::kCommit));
  const auto decision = viz::beam_decision(run, scene.cursor);
  const viz::Rect area{0, 0, 900, 900};
  const auto panel = viz::make_panel("verdict");
  const auto canvas = drawn(*panel, scene, area);
  const auto row = [&](std::size_t i) {
    const auto* text = find(canvas, viz::logprob_text(decision.choices[i].score));
    REQUIRE(text);
    return *text;
  };
  // The cut is the only solid line in the cursor's colour.
  std::vector<float> cuts;
  for (const std::string& call : canvas.calls) {
    float x = 0, y = 0, to_x = 0, to_y = 0, width = 0;
    if (std::sscanf(call.c_str(), "line %f %f %f %f %f 0.000 ffffffff", &x, &y, &to_x, &to_y,
                    &width) == 5 &&
        call.ends_with("0.000 ffffffff"))
      cuts.push_back(y);
  }
  REQUIRE(cuts.size() == 1);
  CHECK(cuts[0] > row(decision.cut - 1).box.y);
  CHECK(cuts[0] < row(decision.cut).box.bottom());
  CHECK(cuts[0] - row(decision.cut - 1).box.bottom() ==
        doctest::Approx(row(decision.cut).box.y - cuts[0]).epsilon(0.05));
  for (const FrontierRow& before : run.frontier(4)) {
    const auto choice =
        std::find_if(decision.choices.begin(), decision.choices.end(),
                     [&](const viz::BeamChoice& c) { return c.parent == before.node; });
    REQUIRE(choice != decision.choices.end());
    const auto i = static_cast<std::size_t>(choice - decision.choices.begin());
    const auto reaction = panel->input(mouse_over(row(i)), area, scene);
    REQUIRE(!reaction.tooltip.empty());
    CHECK(reaction.tooltip[0].find("  after #" + std::to_string(before.rank + 1) + " ") !=
          std::string::npos);
  }
}

TEST_CASE(
    "decision panel: a table longer than its pane scrolls, and draws the rows in sight alone") {
  const Capture& run = beam_capture();
  const auto panel = viz::make_panel("verdict");
  const viz::Scene scene = scene_at(run, make_tick(5, Phase::kCommit));
  const viz::Rect area{0, 0, 700, 190};
  const auto decision = viz::beam_decision(run, scene.cursor);
  const std::string last = viz::logprob_text(decision.choices.back().score);
  auto canvas = drawn(*panel, scene, area);
  CHECK(find(canvas, viz::logprob_text(decision.choices.front().score)));
  CHECK_FALSE(find(canvas, last));
  viz::Input in = mouse_at({300, 100});
  in.wheel = -50;
  panel->input(in, area, scene);
  canvas = drawn(*panel, scene, area);
  CHECK(find(canvas, last));
  CHECK_FALSE(find(canvas, viz::logprob_text(decision.choices.front().score)));
  // Rows dragged down follow the pointer back to the first.
  viz::Input drag = mouse_at({300, 100});
  drag.dragging = true;
  drag.drag_delta = {0, 2000};
  panel->input(drag, area, scene);
  canvas = drawn(*panel, scene, area);
  CHECK(find(canvas, viz::logprob_text(decision.choices.front().score)));
  CHECK_FALSE(find(canvas, last));
}

TEST_CASE(
    "decision panel: finished hypotheses are listed by final score, and how they ended in words") {
  const Capture& run = beam_capture();
  const viz::Scene end = scene_at(run, run.end_tick());
  const auto finished = viz::finished_hypotheses(end);
  REQUIRE(finished.size() > 3);
  for (std::size_t i = 1; i < finished.size(); ++i)
    CHECK(finished[i - 1].score >= finished[i].score);
  CHECK(viz::finished_hypotheses(scene_at(run, 3)).empty());
  for (std::size_t i = 0; i < finished.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(finished[i].node != finished[j].node);
  CHECK(viz::finish_text("eos") == "end-of-sequence token");
  CHECK(viz::finish_text("length") == "max_new_tokens reached");
  CHECK(viz::finish_text("stopped") == "stopped before its end");
  CHECK(viz::finish_text("other") == "other");
  const auto panel = viz::make_panel("verdict");
  const auto canvas = drawn(*panel, end, {0, 0, 900, 1400});
  CHECK(
      find(canvas, "finished: " + std::to_string(finished.size()) + ", the best 3 by final score"));
}

TEST_CASE("decision panel: the path that became text comes first, from the frontier down") {
  const Capture& run = draft_capture();
  int steps = 0, ordered = 0;
  for (const StepRow& step : run.steps()) {
    const auto scene = scene_at(run, make_tick(step.step + 1, Phase::kDraft));
    const auto recorded = viz::VerdictList::rows_of(scene);
    const auto rows = viz::VerdictList::path_first(recorded);
    CAPTURE(step.step);
    REQUIRE(rows.size() == recorded.size());
    const auto group = [](const VerdictRow& row) {
      if (row.verdict == Verdict::kRejected) return row.reason == Reason::kNotReached ? 4 : 3;
      if (row.verdict == Verdict::kAccepted) return 0;
      return row.verdict == Verdict::kFinished ? 2 : 1;
    };
    for (std::size_t i = 1; i < rows.size(); ++i) {
      CHECK(group(rows[i - 1]) <= group(rows[i]));
      if (group(rows[i - 1]) != group(rows[i])) continue;
      if (group(rows[i]) == 0) {
        // Each accepted draft hangs below the one before it.
        CHECK(run.nodes()[static_cast<std::size_t>(rows[i].node)].parent == rows[i - 1].node);
        ++ordered;
        continue;
      }
      // Other groups keep the recorded order.
      const auto place = [&](const VerdictRow& row) {
        return std::find_if(recorded.begin(), recorded.end(),
                            [&](const VerdictRow& other) { return other.node == row.node; });
      };
      CHECK(place(rows[i - 1]) < place(rows[i]));
    }
    steps += !rows.empty() && group(rows.front()) == 0;
  }
  CHECK(steps > 5);
  CHECK(ordered > 2);
}

TEST_CASE("decision panel: withdrawn drafts are one line with a count, which a click opens") {
  const Capture& run = withdrawn_drafts_capture();
  const auto panel = viz::make_panel("verdict");
  // Both withdrawn drafts of step 1 are shown, before one of them becomes the bonus.
  const auto scene = scene_at(run, make_tick(1, Phase::kForward));
  auto canvas = drawn(*panel, scene, kArea);
  CHECK(find(canvas, "step 1: 4 drafts to verify"));
  const auto* const fold = find(canvas, "2 withdrawn: click to show");
  REQUIRE(fold);
  CHECK_FALSE(find(canvas, "t40"));
  CHECK(panel->view_state().empty());
  viz::Input in = mouse_over(*fold);
  in.clicked = true;
  const auto reaction = panel->input(in, kArea, scene);
  CHECK_FALSE(reaction.lock);
  CHECK(reaction.hover == 6);  // lets the keyboard find the line
  canvas = drawn(*panel, scene, kArea);
  CHECK(find(canvas, "2 withdrawn: click to fold"));
  CHECK(find(canvas, "t32"));
  CHECK(find(canvas, "t40"));
  // A double click's second press does not close it again; Enter, which is only a double click,
  // does.
  in.double_clicked = true;
  panel->input(in, kArea, scene);
  CHECK(panel->view_state() == "withdrawn=rows");
  in.clicked = false;
  panel->input(in, kArea, scene);
  CHECK(panel->view_state().empty());
  // A picture has the count, and the rows if they are asked for.
  viz::Scene picture = scene;
  picture.export_mode = true;
  const auto plain = viz::make_panel("verdict"), asked = viz::make_panel("verdict");
  asked->set_view_state("withdrawn=rows");
  CHECK(find(drawn(*plain, picture, kArea), "2 withdrawn"));
  CHECK_FALSE(find(drawn(*plain, picture, kArea), "t40"));
  CHECK(find(drawn(*asked, picture, kArea), "t40"));
}

TEST_CASE(
    "decision panel: a withdrawn draft that the target then chose is one row, with the cause") {
  const Capture& run = withdrawn_drafts_capture();
  const auto scene = scene_at(run, make_tick(2, Phase::kDraft));
  const auto rows = viz::VerdictList::path_first(viz::VerdictList::rows_of(scene));
  CHECK(std::ranges::count(rows, 6, &VerdictRow::node) == 1);
  const auto views = viz::explained_views(run, 1, scene.cursor);
  const viz::DrafterView& bonus = views.at(6);
  CHECK(bonus.is_withdrawn);
  CHECK(bonus.rank == 0);
  CHECK(viz::drafter_reason(bonus, Verdict::kBonus) ==
        "the head had it 1st (q 0.82), and withdrew it");
  const auto panel = viz::make_panel("verdict");
  const auto canvas = drawn(*panel, scene, {0, 0, 1200, 700});
  CHECK(viz::tie_reason(bonus, Verdict::kBonus) ==
        "a near tie: the refused draft has 1.00 of its p");
  CHECK(find(canvas, "bonus: " + viz::tie_reason(bonus, Verdict::kBonus) + "; " +
                         viz::drafter_reason(bonus, Verdict::kBonus)));
  const auto csv = panel->csv(scene);
  CHECK(csv.find(viz::drafter_reason(bonus, Verdict::kBonus)) != std::string::npos);
}

TEST_CASE("decision panel: why a token was no draft, as far as the drafter's rows say") {
  viz::DrafterView view{.has_row = true, .q = 0.0125f, .rank = 4, .listed = 16, .proposed = 10};
  const auto of = [&](Verdict verdict) { return viz::drafter_reason(view, verdict); };
  view.is_draft = view.is_withdrawn = true;
  view.score = -4.5f;
  view.least_sent = -3.25f;
  CHECK(of(Verdict::kCorrected) == "the head had it 5th (q 0.013), withdrawn by reranking");
  CHECK(of(Verdict::kWithdrawn) ==
        "by reranking, Σ log q -4.500, the last that was sent has -3.250");
  // Without scores, nothing is said about a ranking.
  view.least_sent = std::numeric_limits<float>::quiet_NaN();
  CHECK(of(Verdict::kCorrected) == "the head had it 5th (q 0.013), and withdrew it");
  CHECK(of(Verdict::kWithdrawn).empty());
  view.is_draft = view.is_withdrawn = false;
  view.rank = 12;
  CHECK(of(Verdict::kBonus) == "the head had it 13th (q 0.013), behind the 10 it proposed");
  view.rank = -1;
  view.whose = Whose::kDraft;
  CHECK(of(Verdict::kEmitted) == "not among the 16 best of the draft model");
  CHECK(of(Verdict::kAccepted).empty());
  CHECK(of(Verdict::kRejected).empty());
  view.has_row = false;  // a lookup has none
  CHECK(of(Verdict::kCorrected).empty());
}

TEST_CASE("clauses: what has too little room loses whole clauses, never half a number or token") {
  RecordingCanvas canvas;
  const viz::TextStyle style;
  const std::string text =
      "rejected: argmax is ', (a' (p 0.41), this has p 0.0032, rank 4; min(1, p′/q) is 0.5";
  const auto width = [&](const std::string& part) { return canvas.measure(part, style).x; };
  CHECK(viz::clauses_in(canvas, text, style, width(text)) == text);
  const std::vector<std::string> parts = {
      "rejected: argmax is ', (a' (p 0.41), this has p 0.0032, rank 4 …",
      "rejected: argmax is ', (a' (p 0.41), this has p 0.0032 …",
      "rejected: argmax is ', (a' (p 0.41) …", "rejected: argmax is ', (a' …", "rejected …"};
  std::string longer = text;
  for (const std::string& part : parts) {
    CHECK(viz::clauses_in(canvas, text, style, width(longer) - 1) == part);
    longer = part;
  }
}

TEST_CASE("decision panel: nothing that a cursor has not seen stands in it") {
  for (const Capture* run : {&draft_capture(), &withdrawn_drafts_capture()})
    for (const StepRow& step : run->steps()) {
      if (step.drafted == 0) continue;
      CAPTURE(step.step);
      for (const Phase phase : {Phase::kForward, Phase::kAccept}) {
        const auto panel = viz::make_panel("verdict");
        const auto scene = scene_at(*run, make_tick(step.step, phase));
        const auto canvas = drawn(*panel, scene, kArea);
        CHECK(find(canvas, "step " + std::to_string(step.step) + ": " +
                               std::to_string(step.drafted) + " draft" +
                               (step.drafted == 1 ? "" : "s") + " to verify"));
        for (const auto& text : canvas.texts)
          CHECK(text.text.find("drafts accepted") == std::string::npos);
        // The histogram counts only the steps before this one.
        int decided = 0;
        double accepted = 0;
        for (const StepRow& row : run->steps())
          if (row.step > 0 && row.step < step.step) ++decided, accepted += row.accepted;
        const std::string mean =
            "steps by accepted, mean " + viz::number_text(accepted / std::max(1, decided), 2);
        CHECK(std::ranges::any_of(canvas.texts, [&](const auto& text) {
                return text.text.starts_with(mean) ||
                       text.text.starts_with(mean.substr(mean.find("mean ")) + ", n ");
              }) == (decided > 0));
      }
    }
}

TEST_CASE(
    "decision panel: min(1, p′/q) stands where the rule compares u with it, and nowhere else") {
  for (const bool ratio : {true, false}) {
    const auto opened = make_capture([&](Recorder& out) {
      out.write({.run = synthetic_info(4, "ngram_trie", "N-gram trie", "recycle")});
      out.write({.nodes = {{}}});
      const Tick accept = make_tick(1, Phase::kAccept);
      out.write({.nodes = {{.node = 1,
                            .parent = 0,
                            .token = 2,
                            .depth = 1,
                            .logprob = std::numeric_limits<float>::quiet_NaN(),
                            .q = 0.5f,
                            .source = Source::kDraft,
                            .tick = make_tick(1, Phase::kDraft)}}});
      out.write({.verdicts = {{.tick = accept,
                               .node = 1,
                               .verdict = Verdict::kRejected,
                               .p = 0.2f,
                               .q = 0.5f,
                               .u = 0.75f,
                               .reason = ratio ? Reason::kNotBelowRatio : Reason::kNotArgmax,
                               .threshold = 0.4f}}});
      for (Tick tick = 0; tick <= accept; ++tick) out.write({.phases = {{.tick = tick}}});
    });
    const auto panel = viz::make_panel("verdict");
    const auto scene = scene_at(*opened->capture, make_tick(1, Phase::kCommit));
    const auto canvas = drawn(*panel, scene, kArea);
    CHECK((find(canvas, "min(1, p′/q)") != nullptr) == ratio);
    CHECK((find(canvas, "0.40") != nullptr) == ratio);
    const auto* p = find(canvas, "0.20");
    REQUIRE(p);
    std::string tooltip;
    for (const auto& line : panel->input(mouse_over(*p), kArea, scene).tooltip)
      tooltip += line + "\n";
    CHECK((tooltip.find("min(1, p′/q)") != std::string::npos) == ratio);
  }
}

TEST_CASE("decision panel: before the accept phase it tells the drafts, not what becomes of them") {
  const Capture& run = draft_capture();
  const auto panel = viz::make_panel("verdict");
  const auto steps = run.steps();
  const auto step = std::find_if(steps.begin(), steps.end(), [](const StepRow& row) {
    return row.drafted > 1 && row.accepted > 0;
  });
  REQUIRE(step != steps.end());
  const std::string name = "step " + std::to_string(step->step) + ": ",
                    drafts = std::to_string(step->drafted) + " drafts";
  const auto before = drawn(*panel, scene_at(run, make_tick(step->step, Phase::kAccept)), kArea);
  CHECK(find(before, name + drafts + " to verify"));
  const auto after = drawn(*panel, scene_at(run, make_tick(step->step, Phase::kCommit)), kArea);
  CHECK(find(after, name + std::to_string(step->accepted) + " of " + drafts + " accepted, " +
                        std::to_string(step->emitted) + " tokens emitted"));
}

TEST_CASE("log p: one form everywhere") {
  CHECK(viz::logprob_text(-0.0751) == "-0.075");
  CHECK(viz::logprob_text(-4.41) == "-4.410");
  CHECK(viz::logprob_text(-0.0004) == "0.000");
  CHECK(viz::logprob_text(-0.0006) == "-0.001");
  CHECK(viz::logprob_text(-123.4567) == "-123.457");
  CHECK(viz::logprob_text(std::nan("")) == "–");
}

}  // namespace
}  // namespace triescope::test::test_decision_panel
