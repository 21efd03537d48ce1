// Suffix decoding's drafts for texts made by hand, and where past answers come from.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>

#include "core/base/error.h"
#include "core/capture/writer.h"
#include "core/methods/past_answers.h"
#include "core/methods/text_methods.h"
#include "tests/support/draft_rig.h"
#include "tests/support/paths.h"

namespace triescope::test_suffix_decoding {
namespace {

using test::DraftRig;
using test::LoopConfig;
using test::Tokens;
using Paths = std::vector<Tokens>;
namespace fs = std::filesystem;

Paths drafts(const Tokens& text, const nlohmann::json& settings, int room = 1000,
             DraftRig::Options options = {}) {
  DraftRig rig(suffix_decoding_method(), text, settings, std::move(options));
  Paths paths = rig.draft(room);
  for (const NodeId node : rig.drafts.sent) CHECK(rig.tree[node].source == capture::Source::kDraft);
  return paths;
}

TEST_CASE("suffix decoding: it drafts as many tokens as matched, times a factor") {
  // "1 2" stands twice, one of them at the end: what followed it then has 1/2.
  const Tokens text = {1, 2, 3, 1, 2};
  CHECK(drafts(text, {{"num_draft", 32}}) == Paths{{3}, {3, 1}});
  CHECK(drafts(text, {{"num_draft", 32}, {"max_spec_factor", 4}}) == Paths{{3}, {3, 1}, {3, 1, 2}});
  CHECK(drafts(text, {{"num_draft", 1}}) == Paths{{3}});
  CHECK(drafts(text, {{"num_draft", 32}, {"max_spec_factor", 0.4}}).empty());
  CHECK(drafts(text, {{"num_draft", 32}}, 1) == Paths{{3}});
  CHECK(drafts(text, {{"num_draft", 32}}, 0).empty());
  CHECK(drafts(text, {{"num_draft", 32}}, 9, {.eos = {3}}) == Paths{{3}});
}

TEST_CASE("suffix decoding: it drafts nothing less likely than min_token_prob along its path") {
  // After "1 2": 3 twice and 4 once, and the end: 2/4, then 1/2 each for what followed "1 2 3".
  const Tokens text = {1, 2, 3, 8, 1, 2, 4, 9, 1, 2, 3, 7, 1, 2};
  const auto with = [&](double least, const char* shape) {
    return drafts(
        text,
        {{"num_draft", 32}, {"max_spec_factor", 3}, {"min_token_prob", least}, {"shape", shape}});
  };
  CHECK(with(0.6, "path").empty());
  CHECK(with(0.5, "path") == Paths{{3}});
  // 7 was seen last; from there on everything is certain.
  CHECK(with(0.2, "path") == Paths{{3}, {3, 7}, {3, 7, 1}, {3, 7, 1, 2}});
  CHECK(with(0.3, "tree") == Paths{{3}});
  // Of equal products what was found first: 4 before the children of 3.
  const Paths tree = with(0.2, "tree");
  REQUIRE(tree.size() == 6);
  CHECK(Paths(tree.begin(), tree.begin() + 4) == Paths{{3}, {4}, {3, 7}, {3, 8}});
}

TEST_CASE(
    "suffix decoding: a shorter match whose continuation is likelier wins over a longer one") {
  // "5 1" stands once before and went on with 9. "1" stands five times more and always went on with 2 3 4.
  Tokens text;
  for (int i = 0; i < 9; ++i) text.insert(text.end(), {1, 2, 3, 4});
  text.insert(text.end(), {5, 1, 9, 5, 1});
  const Paths found = drafts(text, {{"num_draft", 32}, {"max_spec_factor", 8}});
  REQUIRE_FALSE(found.empty());
  CHECK(found.front() == Tokens{2});
}

std::vector<std::int32_t> letters(std::string_view text) {
  Tokens ids;
  for (const char c : text)
    if (c >= 'a' && c <= 'z') ids.push_back(c - 'a');
  return ids;
}

TEST_CASE(
    "suffix decoding: it takes the request's tree or that of past answers, whichever scores higher") {
  const test::TempDir dir;
  const std::string path = dir.path() / "answers.txt";
  std::ofstream(path) << "abcdef\n<|endoftext|>\nxbcq\n<|endoftext|>\nab";
  const auto from = [&](std::string_view text, nlohmann::json settings) {
    settings["past_answers"] = path;
    settings["num_draft"] = 32;
    DraftRig rig(suffix_decoding_method(), letters(text), settings,
                 {.vocab = 26, .encode = letters});
    return rig.draft();
  };
  // "abc" once: def, 3 tokens for 3 that matched.
  CHECK(from("zabc", {}) == Paths{letters("d"), letters("de"), letters("def")});
  // The request's own "abc" went on with zz, at 1/2 each; past answers are sure.
  CHECK(from("abczzabc", {}) == Paths{letters("d"), letters("de"), letters("def")});
  // Four times "abc", "z" after three of them: 3/4 of 3 tokens, more than past answers' 1 of "c".
  CHECK(from("qcy", {}).empty());
  // No draft goes across the end of an answer, and no match.
  CHECK(from("ef", {{"max_spec_factor", 16}}).empty());
  CHECK(from("def", {{"max_spec_factor", 16}}).empty());
  CHECK(from("xb", {{"max_spec_factor", 16}}) == Paths{letters("c"), letters("cq")});
  // The oldest answers go first: "xbcq" and "ab" have 6 tokens.
  CHECK(from("zabc", {{"past_tokens", 6}}) == Paths{letters("q")});
}

TEST_CASE("past answers: files of a folder oldest first, captures by their best text") {
  const test::TempDir dir;
  const auto write = [&](const char* name, std::string_view text, int minute) {
    const fs::path path = dir.path() / name;
    std::ofstream(path) << text;
    fs::last_write_time(path, fs::file_time_type(std::chrono::minutes(minute)));
  };
  write("b.txt", "bb\n<|endoftext|>\ncc", 2);
  write("a.txt", "dd", 3);
  write("notes.md", "zz", 1);
  {
    const auto recorder = capture::open_recorder((dir.path() / "run.tscap").string());
    recorder->write({.pieces = {{3, "a"}, {4, "f"}, {5, "\xC3"}},
                     .sequences = {{.node = 0, .rank = 1, .finish = "eos", .tokens = {4}},
                                   {.node = 0, .rank = 0, .finish = "eos", .tokens = {3, 4, 4, 5}},
                                   {.node = 0, .rank = -1, .finish = "eos", .tokens = {4}}}});
  }
  fs::last_write_time(dir.path() / "run.tscap", fs::file_time_type(std::chrono::minutes(1)));
  const auto read = [&](std::size_t most) {
    return read_past_answers(dir.path().string(), most, letters);
  };
  CHECK(read(100) == Paths{letters("aff"), letters("bb"), letters("cc"), letters("dd")});
  CHECK(read(6) == Paths{letters("bb"), letters("cc"), letters("dd")});
  CHECK(read(5) == Paths{letters("cc"), letters("dd")});
  CHECK(read(1).empty());
  CHECK(read_past_answers((dir.path() / "run.tscap").string(), 9, letters) ==
        Paths{letters("aff")});
}

TEST_CASE(
    "suffix decoding: past answers that are not there or no capture are an error that names the file") {
  const test::TempDir dir;
  const std::string broken = dir.path() / "broken.tscap";
  std::ofstream(broken) << "no capture";
  for (const std::string& path : {std::string("/no/such/answers.txt"), broken}) {
    LoopConfig config{.vocab = 26, .settings = {{"past_answers", path}}};
    RunContext run = test::run_context(config, suffix_decoding_method());
    run.encode = letters;
    try {
      suffix_decoding_method().make(run);
      FAIL("no error");
    } catch (const Error& error) {
      CAPTURE(error.what());
      CHECK(std::string(error.what()).starts_with("past_answers: "));
      CHECK(std::string(error.what()).find(path) != std::string::npos);
    }
  }
}

TEST_CASE("suffix decoding: it writes greedy decoding's text, in fewer steps with past answers") {
  const test::TempDir dir;
  std::int64_t alone = 0, with_past = 0, tokens = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto logits = test::markov_logits(12, 3, 3, seed);
    LoopConfig config{.prompt = {1, 2}, .max_new_tokens = 60, .vocab = 12};
    const auto plain = test::plain_greedy(config, logits);
    const std::string path = dir.path() / (std::to_string(seed) + ".txt");
    {
      std::ofstream file(path);
      for (std::size_t i = 5; i < 50; ++i) file << static_cast<char>('a' + plain[i]);
    }
    for (const bool past : {false, true})
      for (const char* shape : {"path", "tree"}) {
        config.settings = {{"shape", shape}};
        if (past) config.settings["past_answers"] = path;
        RunContext run = test::run_context(config, suffix_decoding_method());
        run.encode = letters;
        auto parts = suffix_decoding_method().make(run);
        Rng rng(1);
        const auto loop =
            test::run_loop(config, logits, parts.drafter.get(), *parts.acceptor, run, rng);
        CHECK(loop.text == plain);
        (past ? with_past : alone) += static_cast<std::int64_t>(loop.steps.size());
        tokens += static_cast<std::int64_t>(loop.text.size());
      }
  }
  CHECK(with_past < alone);
  CHECK(tokens > 2 * with_past);
}

}  // namespace
}  // namespace triescope::test_suffix_decoding
