// A run of a method that viz does not know is told, drawn, exported and made into a page, by what
// its capture says.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/files.h"
#include "tests/support/sql.h"
#include "tests/unit/viz/captures.h"
#include "viz/export/export.h"
#include "viz/handout/handout.h"
#include "viz/narration/narration.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"
#include "viz/panels/panel.h"
#include "viz/query/beam_decision.h"

namespace triescope::viz::test_foreign_method {
namespace {

using namespace triescope::capture;

// Records three steps: a prompt of two tokens, drafts or beams, and the end of the text.
void record(Recorder& out, RunKind kind) {
  RunInfo info;
  info.method = "my_own";
  info.method_title = "My own decoder";
  info.kind = kind;
  info.width = kind == RunKind::kBeams ? 2 : 1;
  info.settings_json = R"({"branches":2,"colour":"red"})";
  info.setting_titles_json = R"({"branches":"Branches"})";
  info.prompt_tokens = {1, 2};
  info.max_new_tokens = 8;
  const bool drafts = kind == RunKind::kDrafts, beams = kind == RunKind::kBeams;
  RowTables rows{.run = info, .programs = {{.name = "my_program", .version = "7"}}};
  if (drafts)
    rows.drafters = {{.name = "squirrel", .title = "The squirrel", .kind = DrafterKind::kOther},
                     {.drafter = 1, .name = "owl", .kind = DrafterKind::kModel}};
  for (std::int32_t token = 1; token < 8; ++token)
    rows.pieces.push_back({token, " t" + std::to_string(token)});
  const auto node = [&](std::int32_t id, std::int32_t parent, std::int32_t depth, Source source,
                        Tick tick) {
    rows.nodes.push_back({.node = id,
                          .parent = parent,
                          .token = id + 2,
                          .depth = depth,
                          .logprob = -0.5f,
                          .score = -0.5f * static_cast<float>(depth),
                          .source = source,
                          .tick = tick,
                          .drafter = is_drafted(source) ? (id == 3 ? 1 : 0) : -1});
  };
  const auto verdict = [&](std::int32_t id, Verdict what, Tick tick, const char* why) {
    rows.verdicts.push_back(
        {.tick = tick, .node = id, .verdict = what, .rank = 0, .score = -0.5f, .why = why});
  };
  rows.nodes = {{}};
  const Tick accept0 = make_tick(0, Phase::kAccept), draft1 = make_tick(1, Phase::kDraft),
             accept1 = make_tick(1, Phase::kAccept);
  node(1, 0, 1, beams ? Source::kBeam : Source::kGreedy, accept0);
  verdict(1, beams ? Verdict::kKept : Verdict::kEmitted, accept0, "");
  if (beams) {
    node(2, 0, 1, Source::kBeam, accept0);
    verdict(2, Verdict::kKept, accept0, "it smelled right");
  }
  rows.frontier = {{.step = 0, .node = 1, .score = -0.5f}};
  if (beams) rows.frontier.push_back({.step = 0, .rank = 1, .node = 2, .score = -0.5f});
  std::int32_t last = 1;
  if (drafts) {
    node(2, 1, 2, Source::kDraft, draft1);
    node(3, 2, 3, Source::kDraft, draft1);
    verdict(2, Verdict::kAccepted, accept1, "the coin said yes");
    verdict(3, Verdict::kRejected, accept1, "the coin said no");
    node(4, 2, 3, Source::kCorrected, accept1);
    verdict(4, Verdict::kCorrected, accept1, "");
    last = 4;
  } else {
    const std::int32_t id = beams ? 3 : 2;
    node(id, 1, 2, beams ? Source::kBeam : Source::kGreedy, accept1);
    verdict(id, beams ? Verdict::kKept : Verdict::kEmitted, accept1, "");
    if (beams) verdict(2, Verdict::kPruned, accept1, "it bored the recorder");
    last = id;
  }
  rows.frontier.push_back({.step = 1, .node = last, .score = -1});
  rows.candidates = {
      {.tick = make_tick(1, Phase::kForward), .node = 1, .token = 4, .logprob = -0.5f},
      {.tick = make_tick(1, Phase::kForward), .node = 1, .rank = 1, .token = 5, .logprob = -1}};
  rows.inputs = {{.step = 0, .node = -2, .slot = 0},
                 {.step = 0, .row = 1, .node = -3, .position = 1, .slot = 1},
                 {.step = 1, .node = 1, .position = 2, .slot = 2}};
  rows.slots = {{.tick = 1, .slot = 0, .node = -2},
                {.tick = 1, .slot = 1, .node = -3},
                {.tick = make_tick(1, Phase::kForward), .slot = 2, .node = 1}};
  rows.memory = {{.step = 0, .live = 2, .reserved = 8}, {.step = 1, .live = 3, .reserved = 8}};
  rows.sequences = {{.tick = make_tick(1, Phase::kObserve),
                     .node = last,
                     .rank = 0,
                     .score = std::nanf(""),
                     .finish = "length",
                     .tokens = {3, 4}}};
  rows.steps = {{.step = 0, .forward_rows = 2, .emitted = 1, .frontier = 1},
                {.step = 1,
                 .forward_rows = 3,
                 .drafted = drafts ? 2 : 0,
                 .accepted = drafts ? 1 : 0,
                 .emitted = drafts ? 2 : 1,
                 .frontier = 1}};
  for (Tick tick = 0; tick < 10; ++tick)
    rows.phases.push_back({.tick = tick, .start_us = tick * 10, .duration_us = 10});
  rows.finish = Finish{};
  out.write(rows);
}

void export_as(const Capture& run, const std::string& panel, ExportFormat format,
               const std::string& path) {
  ExportOptions options;
  options.format = format;
  export_panel(run, panel, path, options);
}

std::string told(const Capture& run, Tick cursor) {
  return narration_as_text(narrate(run, cursor, Sentences::standard()));
}

TEST_CASE(
    "foreign method: told, drawn in every panel, exported and made a page of, of every kind") {
  for (const RunKind kind : {RunKind::kText, RunKind::kDrafts, RunKind::kBeams}) {
    CAPTURE(to_string(kind));
    const auto opened = test::make_capture([&](Recorder& out) { record(out, kind); });
    const Capture& run = *opened->capture;
    for (Tick cursor = 0; cursor <= run.end_tick(); ++cursor)
      CHECK_FALSE(told(run, cursor).empty());
    CHECK(told(run, 0).find("My own decoder") != std::string::npos);
    for (const std::string& panel : panel_names()) {
      CAPTURE(panel);
      for (const ExportFormat format :
           {ExportFormat::kSvg, ExportFormat::kPng, ExportFormat::kCsv}) {
        const std::string out = opened->folder.path() / "out";
        export_as(run, panel, format, out);
        CHECK_FALSE(test::read_file(out).empty());
      }
    }
    const std::string page = handout_html(run, {});
    CHECK(page.find("My own decoder") != std::string::npos);
  }
}

TEST_CASE("foreign method: its drafters have their names in sentences, lists and tables") {
  const auto opened = test::make_capture([](Recorder& out) { record(out, RunKind::kDrafts); });
  const Capture& run = *opened->capture;
  CHECK(told(run, make_tick(1, Phase::kDraft) + 1).find("The squirrel proposes two drafts below") !=
        std::string::npos);
  CHECK(told(run, make_tick(1, Phase::kAccept) + 1).find("the coin said no") != std::string::npos);
  CHECK(run.source_of(run.nodes()[2]) == "squirrel");
  CHECK(run.source_of(run.nodes()[3]) == "owl");
  CHECK(run.source_of(run.nodes()[4]) == "corrected");
  const std::string out = opened->folder.path() / "out.csv";
  export_as(run, "trie", ExportFormat::kCsv, out);
  CHECK(test::read_file(out).find(",squirrel,") != std::string::npos);
  export_as(run, "verdict", ExportFormat::kCsv, out);
  CHECK(test::read_file(out).find("the coin said yes") != std::string::npos);
  CHECK(decision_kind(run, 1) == DecisionKind::kDrafts);
}

TEST_CASE("foreign method: a reason that is not known is told, drawn and exported as it stands") {
  const auto opened = test::make_capture([](Recorder& out) { record(out, RunKind::kDrafts); });
  const std::string path = opened->folder.path() / "run.tscap";
  test::run_sql(
      path,
      "PRAGMA ignore_check_constraints = 1;"
      "UPDATE verdict SET reason = 'coin_was_tails', why = '' WHERE verdict = 'rejected'");
  const auto capture = Capture::open(path);
  CHECK(told(*capture, make_tick(1, Phase::kAccept) + 1).find("coin_was_tails") !=
        std::string::npos);
  for (const std::string& panel : panel_names()) {
    CAPTURE(panel);
    const std::string out = opened->folder.path() / "out";
    export_as(*capture, panel, ExportFormat::kPng, out);
    CHECK_FALSE(test::read_file(out).empty());
  }
  const std::string out = opened->folder.path() / "out.csv";
  export_as(*capture, "verdict", ExportFormat::kCsv, out);
  CHECK(test::read_file(out).find("coin_was_tails") != std::string::npos);
}

TEST_CASE(
    "foreign method: beams are what the run says they are, whatever its settings are called") {
  const auto opened = test::make_capture([](Recorder& out) { record(out, RunKind::kBeams); });
  const Capture& run = *opened->capture;
  CHECK(searches_beams(run));
  CHECK(decision_kind(run, 1) == DecisionKind::kBeams);
  CHECK(beam_decision(run, make_tick(1, Phase::kAccept)).width == 2);
  CHECK(told(run, make_tick(1, Phase::kDraft) + 1).find("My own decoder drafts nothing") !=
        std::string::npos);
  CHECK(told(run, make_tick(1, Phase::kAccept) + 1).find("it bored the recorder") !=
        std::string::npos);
  const auto text = test::make_capture([](Recorder& out) { record(out, RunKind::kText); });
  CHECK_FALSE(searches_beams(*text->capture));
}

TEST_CASE("foreign method: settings have the titles that the run gives them, else their names") {
  const auto opened = test::make_capture([](Recorder& out) { record(out, RunKind::kText); });
  const std::string out = opened->folder.path() / "out.csv";
  export_as(*opened->capture, "inspector", ExportFormat::kCsv, out);
  const std::string facts = test::read_file(out);
  CHECK(facts.find("Branches") != std::string::npos);
  CHECK(facts.find("colour") != std::string::npos);
}

}  // namespace
}  // namespace triescope::viz::test_foreign_method
