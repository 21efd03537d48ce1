// Recorded drafts judged again: small runs by hand, kept runs as they were recorded.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/support/fixtures.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/failed_drafts.h"
#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/query/rejudge.h"

namespace triescope::viz::test_rejudge {
namespace {

// "1:2/4=3": step, accepted of sent, tokens; "?" = not known, "!" = the text parts there.
std::string words(const Rejudged& rejudged) {
  std::string text;
  for (const RejudgedStep& step : rejudged.steps) {
    text += (text.empty() ? "" : " ") + std::to_string(step.step) + ":";
    text += step.not_known != NotKnown::kNothing
                ? "?"
                : std::to_string(step.accepted) + "/" + std::to_string(step.sent) + "=" +
                      std::to_string(step.tokens) + (step.same_text ? "" : "!");
  }
  return text;
}

Rejudged rejudged(const capture::Capture& run,
                  const std::vector<std::pair<std::string, std::string>>& set) {
  RejudgeSettings settings = recorded_settings(run);
  for (const auto& [name, value] : set) set_rejudge(settings, run, name, value);
  return rejudge(run, settings, run.end_tick());
}

TEST_CASE("rejudge: fewer drafts of a small tree") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  CHECK(words(rejudged(run, {})) == "1:1/4=2 2:1/4=2");
  // The best by Σ log q: 20, then 32, which step 1 had withdrawn.
  CHECK(words(rejudged(run, {{"drafts", "1"}})) == "1:1/1=2 2:0/1=1");
  CHECK(words(rejudged(run, {{"drafts", "2"}})) == "1:2/2=3 2:0/2=1");
  CHECK(words(rejudged(run, {{"depth", "1"}})) == "1:1/2=2 2:1/2=2");
  CHECK(words(rejudged(run, {{"rank", "1"}})) == "1:2/3=3 2:0/2=1");
  CHECK(words(rejudged(run, {{"tree", "1"}})) == "1:0/1=1 2:1/1=2");
}

TEST_CASE("rejudge: it is followed as long as the run drafted from there") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  const Rejudged whole = rejudged(run, {});
  CHECK(whole.followed == 2);
  CHECK(whole.followed_tokens == 4);
  CHECK(whole.end == FollowEnd::kTextEnds);
  CHECK(whole.end_position == 5);
  // Step 1 leaves the text at node 2, step 2 begins at node 6.
  const Rejudged less = rejudged(run, {{"tree", "1"}});
  CHECK(less.followed == 1);
  CHECK(less.end == FollowEnd::kNotDrafted);
  CHECK(less.end_step == 1);
  CHECK(less.end_position == 2);
  CHECK(less.tokens_per_forward() == doctest::Approx(1.5));
  CHECK(less.recorded_tokens_per_forward() == doctest::Approx(2));
  CHECK(follow_text(less) ==
        "followed for 1 forward; after step 1 it could not be known: the run never drafted from "
        "there");
}

TEST_CASE("rejudge: in mid-run the text ends where the cursor has seen its end") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  for (const capture::Phase phase : {capture::Phase::kDraft, capture::Phase::kCommit}) {
    const Rejudged seen = rejudge(run, recorded_settings(run), capture::make_tick(2, phase));
    CHECK(words(seen) == "1:1/4=2");
    CHECK(seen.followed == 1);
    CHECK(seen.end == FollowEnd::kTextEnds);
  }
}

TEST_CASE("rejudge: a text that goes on past an end token is followed once") {
  for (const bool ignores : {false, true}) {
    const auto opened = test::make_capture([&](test::Recorder& out) {
      test::record_withdrawn_drafts(out, 0, 4);
      auto info = test::synthetic_info(1, "eagle2", "EAGLE-2", "recycle");
      info.model_json = R"({"eos_token_ids":[32]})";
      if (ignores) info.settings_json = R"({"ignore_eos":true})";
      out.write({.run = info});
    });
    const Rejudged all = rejudged(*opened->capture, {});
    CHECK(words(all) == (ignores ? "1:1/4=2 2:1/4=2" : "1:1/4=2 2:0/4=0"));
    CHECK(all.followed == 2);
    CHECK(all.end == (ignores ? FollowEnd::kTextEnds : FollowEnd::kNotDrafted));
  }
}

TEST_CASE("rejudge: what was not recorded is not guessed") {
  const capture::Capture& run = test::failed_drafts_capture();
  // No row of the target is recorded.
  const Rejudged top = rejudged(run, {{"verify", "top_k"}, {"accept_top_k", "2"}});
  CHECK(top.steps.front().not_known == NotKnown::kTargetRow);
  CHECK(top.known == 0);
  CHECK(top.followed == 0);
  CHECK(follow_text(top) ==
        "followed for 0 forwards; from step 1 on it could not be known: it needs more of the "
        "target's rows than was recorded");
  const Rejudged drawn = rejudged(run, {{"verify", "sample"}});
  CHECK(drawn.steps.front().not_known == NotKnown::kDraw);
  // A row a step, whatever is known.
  const std::string csv = rejudged_csv(drawn);
  CHECK(std::ranges::count(csv, '\n') == 8);
}

TEST_CASE("rejudge: kept runs with their own settings are what was recorded") {
  const test::TempDir folder;
  int runs = 0;
  for (const char* name : test::kKeptCaptures) {
    CAPTURE(name);
    const auto run = capture::Capture::open(test::copy_of_capture(name, folder));
    if (run->run().kind != capture::RunKind::kDrafts) continue;
    ++runs;
    const Rejudged same = rejudged(*run, {});
    for (const RejudgedStep& step : same.steps) {
      CAPTURE(step.step);
      REQUIRE(step.not_known == NotKnown::kNothing);
      CHECK(step.sent == run->step(step.step)->drafted);
      CHECK(step.accepted == run->step(step.step)->accepted);
      CHECK(step.tokens == run->step(step.step)->emitted);
      CHECK(step.followed);
    }
    CHECK(same.end == FollowEnd::kTextEnds);
    CHECK(same.tokens == same.recorded_tokens);
  }
  CHECK(runs >= 7);
}

TEST_CASE("rejudge: a larger K never accepts fewer, and 1 is greedy") {
  const test::TempDir folder;
  const auto run = capture::Capture::open(test::copy_of_capture("ngram_trie", folder));
  const Rejudged greedy = rejudged(*run, {});
  const Rejudged one = rejudged(*run, {{"verify", "top_k"}, {"accept_top_k", "1"}});
  const Rejudged three = rejudged(*run, {{"verify", "top_k"}, {"accept_top_k", "3"}});
  REQUIRE(one.known == greedy.known);
  CHECK(words(one) == words(greedy));
  CHECK(three.known > 0);
  for (std::size_t i = 0; i < three.steps.size(); ++i)
    if (three.steps[i].not_known == NotKnown::kNothing)
      CHECK(three.steps[i].accepted >= greedy.steps[i].accepted);
}

TEST_CASE("rejudge: a chain cut short keeps its numbers") {
  const test::TempDir folder;
  const auto run = capture::Capture::open(test::copy_of_capture("draft_chain", folder));
  const Rejudged cut = rejudged(*run, {{"num_assistant_tokens", "2"}});
  CHECK(cut.known == static_cast<std::int64_t>(cut.steps.size()));
  for (const RejudgedStep& step : cut.steps) {
    CAPTURE(step.step);
    CHECK(step.accepted == std::min(step.recorded_accepted, 2));
    // Past the cut the target would draw another token of its own.
    CHECK(step.same_text == (step.recorded_accepted < 2 || step.recorded_sent <= 2));
  }
}

TEST_CASE("rejudge: settings that do not fit are refused") {
  const test::TempDir folder;
  const auto chain = capture::Capture::open(test::copy_of_capture("draft_chain", folder));
  const auto trie = capture::Capture::open(test::copy_of_capture("ngram_trie", folder));
  const auto refused = [](const capture::Capture& run, const std::string& name,
                          const std::string& value) {
    try {
      RejudgeSettings settings;
      set_rejudge(settings, run, name, value);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kInvalidArgument);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused(*chain, "verify", "greedy").find("drafts drawn at random") != std::string::npos);
  CHECK(refused(*trie, "verify", "block").find("chosen drafts") != std::string::npos);
  CHECK(refused(*trie, "num_drafts", "3").find("did you mean num_draft") != std::string::npos);
  CHECK(refused(*trie, "drafts", "0") == "drafts: expected a number from 1 to 1024; found '0'");
  CHECK(refused(*trie, "tree", "0,1").find("without the one above it") != std::string::npos);
  CHECK(refused(*trie, "num_draft", "3").empty());
  CHECK_THROWS_AS(rejudge(test::beam_capture(), {}, test::beam_capture().end_tick()), Error);
}

}  // namespace
}  // namespace triescope::viz::test_rejudge
