#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/two_owners.h"
#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/export/run_data.h"

namespace test_run_data {

using namespace triescope;
using namespace triescope::test;
using nlohmann::json;

namespace {

const Capture& two_owners() {
  static const auto opened = make_capture([](Recorder& r) { record_two_owners(r); });
  return *opened->capture;
}

std::vector<json> lines_of(const Capture& capture,
                           std::optional<std::pair<std::int32_t, std::int32_t>> range = {}) {
  const TempDir folder;
  const std::string path = (folder.path() / "run.jsonl").string();
  viz::export_run_data(capture, path, range);
  std::istringstream text(read_file(path));
  std::vector<json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
  return lines;
}

}  // namespace

TEST_CASE("run data: a step's line has every draft with its path, source, score and verdict") {
  const json line = json::parse(viz::step_line(two_owners(), 1, false));
  CHECK(line["step"] == 1);
  CHECK(line["rows"] == 4);
  CHECK(line["accepted"] == 2);
  CHECK(line["emitted"] == json({6, 8, 9}));
  CHECK_FALSE(line.contains("run"));
  REQUIRE(line["drafts"].size() == 3);
  const json paths = {{6}, {7}, {6, 8}};
  const std::vector<std::string> verdicts = {"accepted", "rejected", "accepted"};
  for (std::size_t i = 0; i < 3; ++i) {
    const json& draft = line["drafts"][i];
    CAPTURE(i);
    CHECK(draft["path"] == paths[i]);
    CHECK(draft["frontier"] == 1);
    CHECK(draft["node"] == 2 + i);
    CHECK(draft["source"] == "draft model");
    CHECK(draft["p"].get<float>() == std::exp(-0.5f));
    CHECK(draft["q"] == 1);
    CHECK(draft["verdict"] == verdicts[i]);
    CHECK(draft["reason"] == "none");
  }
  // The capture has the draft model's probabilities after node 1, but not after node 2.
  CHECK(line["drafts"][0]["score"].get<float>() == std::log(0.5f));
  CHECK(line["drafts"][1]["score"].get<float>() == std::log(0.25f));
  CHECK(line["drafts"][2]["score"].is_null());
  CHECK(line["frontier"] == json::parse(R"([{"node": 5, "token": 9, "score": -2.0}])"));
  CHECK(line["memory"] == json::parse(R"({"live": 6, "garbage": 0, "reserved": 8})"));
  CHECK(line["draft_memory"] == json::parse(R"({"live": 5, "garbage": 0, "reserved": 7})"));
  CHECK_FALSE(line.contains("head_memory"));
  CHECK(line["time_us"] ==
        json::parse(R"({"draft":1000,"forward":1000,"accept":1000,"commit":1000,"observe":1000})"));
}

TEST_CASE("run data: a verdict's p, q and reason are those it was decided by") {
  const Capture& capture = draft_capture();
  int seen = 0;
  for (const json& line : lines_of(capture)) {
    for (const json& draft : line["drafts"]) {
      const auto verdict =
          capture.verdict_at(draft["node"].get<std::int32_t>(), capture.end_tick());
      REQUIRE(verdict);
      CHECK(draft["p"].get<float>() == verdict->p);
      CHECK(draft["q"].get<float>() == verdict->q);
      CHECK(draft["verdict"] == capture::to_string(verdict->verdict));
      CHECK(draft["reason"] == (verdict->reason == Reason::kBelowRatio   ? "below_ratio"
                                : verdict->reason == Reason::kNotArgmax  ? "not_argmax"
                                : verdict->reason == Reason::kNotReached ? "not_reached"
                                                                         : "another"));
      CHECK(draft["source"] == "n-gram trie");
      ++seen;
    }
  }
  CHECK(seen > 30);
}

TEST_CASE("run data: what every line emits is the text, and the first line alone has the run") {
  const Capture& capture = draft_capture();
  const auto lines = lines_of(capture);
  REQUIRE(lines.size() == static_cast<std::size_t>(capture.last_step()) + 1);
  std::vector<std::int32_t> text;
  std::int64_t accepted = 0;
  for (const json& line : lines) {
    for (const json& token : line["emitted"]) text.push_back(token);
    accepted += line["accepted"].get<int>();
    CHECK(line.contains("run") == (line["step"] == 0));
  }
  std::vector<std::int32_t> expected;
  for (const std::int32_t node :
       capture.path_to(capture.frontier(capture.frontier_step(capture.end_tick())).front().node))
    expected.push_back(capture.nodes()[static_cast<std::size_t>(node)].token);
  CHECK(text == expected);
  CHECK(accepted > 0);
  const json& run = lines.front()["run"];
  CHECK(run["method"] == "ngram_trie");
  CHECK(run["settings"] == json::parse(R"({"ngram":3,"num_draft":8})"));
  CHECK(run["seed"] == 7);
  CHECK(run["model"]["name"] == "SmolLM2-135M-Instruct");
  CHECK(run["versions"]["triescope"] == "0.1.0");
  CHECK(run["prompt_ids"] == json(capture.run().prompt_tokens));
  CHECK(run["conversation"].is_null());  // no chat template
  CHECK(run["created_utc"] == "2026-01-02T03:04:05Z");
}

TEST_CASE("run data: beam search emits its best beam's newest token and lists the live beams") {
  const Capture& capture = beam_capture();
  const auto lines = lines_of(capture, std::pair(4, 9));
  REQUIRE(lines.size() == 6);
  CHECK(lines.front().contains("run"));
  for (const json& line : lines) {
    const auto live = capture.frontier(line["step"].get<std::int32_t>());
    REQUIRE(live.size() > 1);
    REQUIRE(line["frontier"].size() == live.size());
    CHECK(line["drafts"].empty());
    for (std::size_t i = 0; i < live.size(); ++i) {
      CHECK(line["frontier"][i]["node"] == live[i].node);
      CHECK(line["frontier"][i]["score"].get<float>() == live[i].score);
    }
    CHECK(line["emitted"] == json({line["frontier"][0]["token"]}));
  }
  std::size_t finished = 0;
  for (const json& line : lines_of(capture)) finished += line["sequences"].size();
  CHECK(finished == capture.sequences().size());
  CHECK(finished > 0);
}

TEST_CASE("run data: where no beam is left, the best text's end is emitted, if it is this step's") {
  const auto ended = make_capture([](Recorder& out) {
    out.write({.run = synthetic_info(2, "beam", "Beam", "recycle")});
    out.write({.nodes = {{.node = 0}}});
    for (const int step : {0, 1}) {
      const Tick tick = make_tick(step, Phase::kAccept);
      out.write({.nodes = {{.node = step + 1,
                            .parent = 0,
                            .token = 5 + step,
                            .depth = 1,
                            .source = Source::kBeam,
                            .tick = tick}}});
      out.write({.verdicts = {{.tick = tick, .node = step + 1, .verdict = Verdict::kFinished}}});
      if (step == 1)
        for (const int rank : {0, 1})
          out.write({.sequences = {{.tick = tick,
                                    .node = 2 - rank,
                                    .rank = rank,
                                    .score = -1,
                                    .finish = "eos",
                                    .tokens = {6 - rank}}}});
      out.write({.steps = {{.step = step, .forward_rows = 2}}});
      out.write({.phases = {{.tick = make_tick(step, Phase::kObserve)}}});
    }
  });
  CHECK(json::parse(viz::step_line(*ended->capture, 0, false))["emitted"] == json::array());
  CHECK(json::parse(viz::step_line(*ended->capture, 1, false))["emitted"] == json({6}));
}

TEST_CASE("run data: bytes that are not UTF-8 are replaced, a folder that is missing is named") {
  const auto broken = make_capture([](Recorder& out) {
    RunInfo info = synthetic_info(2, "greedy", "Greedy", "recycle");
    info.prompt_text = "a\xE2\x82";
    out.write({.run = info});
    out.write({.nodes = {{.node = 0}}});
    out.write({.steps = {{.forward_rows = 2}}});
    out.write({.phases = {{.tick = make_tick(0, Phase::kObserve)}}});
  });
  const auto lines = lines_of(*broken->capture);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["run"]["prompt"] == "a\xEF\xBF\xBD");
  const std::string message = refusal(ErrorCode::kIoError, [&] {
    viz::export_run_data(*broken->capture, "/no/such/folder/run.jsonl", {});
  });
  CHECK(message.find("/no/such/folder/run.jsonl: cannot be written") == 0);
}

TEST_CASE("run data: a draft's score is the sum over its path; a step without figures has none") {
  const auto opened = make_capture([](Recorder& out) {
    const Tick draft = make_tick(1, Phase::kDraft);
    const auto node = [&](std::int32_t id, std::int32_t token) {
      return NodeRow{.node = id,
                     .parent = id - 1,
                     .token = token,
                     .depth = id,
                     .source = Source::kDraft,
                     .tick = draft};
    };
    const auto proposal = [&](std::int32_t parent, std::int32_t token, float logprob) {
      return CandidateRow{.tick = draft,
                          .node = parent,
                          .token = token,
                          .logprob = logprob,
                          .whose = Whose::kDraft};
    };
    out.write(
        {.run = synthetic_info(3, "draft_model", "", "recycle"),
         .nodes = {{}, node(1, 6), node(2, 8), node(3, 9)},
         .candidates = {proposal(0, 6, -1), proposal(1, 8, -0.5f), proposal(2, 9, -0.25f)},
         .memory = {{.step = 0, .live = 3, .reserved = 8}, {.step = 2, .live = 5, .reserved = 8}},
         .phases = {{.tick = make_tick(2, Phase::kObserve)}}});
  });
  const json line = json::parse(viz::step_line(*opened->capture, 1, false));
  REQUIRE(line["drafts"].size() == 3);
  CHECK(line["drafts"][0]["score"] == -1);
  CHECK(line["drafts"][1]["score"] == -1.5);
  CHECK(line["drafts"][2]["score"] == -1.75);
  CHECK(line["drafts"][2]["path"] == json({6, 8, 9}));
  CHECK(line["drafts"][0]["verdict"].is_null());
  CHECK(line["drafts"][0]["q"] == 1);
  CHECK(line["rows"].is_null());
  CHECK(line["accepted"].is_null());
  CHECK(line["memory"].is_null());
  CHECK(json::parse(viz::step_line(*opened->capture, 2, false))["memory"]["live"] == 5);
}

TEST_CASE("run data: a withdrawn draft that the target then chose is withdrawn, and text") {
  const json line = json::parse(viz::step_line(withdrawn_drafts_capture(), 1, false));
  int sent = 0;
  for (const json& draft : line["drafts"]) {
    const int node = draft["node"];
    CAPTURE(node);
    const bool withdrawn = node == 6 || node == 7;
    CHECK(draft["verdict"] == (withdrawn ? "withdrawn" : node == 2 ? "accepted" : "rejected"));
    CHECK(draft["text"] == (node == 2 || node == 6));
    sent += !withdrawn;
  }
  CHECK(sent == 4);
  CHECK(line["accepted"] == 1);
  CHECK(line["emitted"].size() == 2);
}

}  // namespace test_run_data
