// Files of sentences: their contents, and the errors about wrong ones.
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/support/paths.h"
#include "viz/narration/sentences.h"

namespace triescope::viz::test_sentences {
namespace {

// Reads these sentences over the built-in ones.
Sentences with(const std::string& text) {
  auto files = asset_files("assets/narration/", "");
  files.push_back({"mine.txt", text});
  return Sentences::read(files);
}

void check_refused(const std::string& text, const std::string& message) {
  CAPTURE(text);
  try {
    with(text);
    FAIL_CHECK("not refused");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kCorruption);
    CHECK(std::string(error.what()) == message);
  }
}

TEST_CASE("sentences: the built-in files hold every sentence") {
  const Sentences& all = Sentences::standard();
  CHECK(sentence_kinds().size() > 100);
  for (const SentenceKind& kind : sentence_kinds()) {
    CAPTURE(kind.name);
    if (kind.is_long()) CHECK_FALSE(all.at(kind.name).empty());
    if (kind.is_short()) CHECK_FALSE(all.short_of(kind.name).empty());
  }
  CHECK_THROWS_AS(all.at("accept.nothing"), Error);
}

TEST_CASE("sentences: words, values, choices; lines are joined, comments are not read") {
  const Template made =
      with("# mine\n[commit.memory]\n  Now {live} {live:token|tokens}\n# no\nand {reserved}.\n")
          .at("commit.memory");
  REQUIRE(made.size() == 7);
  CHECK(made[0].text == "Now ");
  CHECK(made[1].kind == TemplatePart::Kind::kValue);
  CHECK(made[1].text == "live");
  CHECK(made[2].text == " ");
  CHECK(made[3].kind == TemplatePart::Kind::kChoice);
  CHECK(made[3].text == "live");
  CHECK(made[3].one == "token");
  CHECK(made[3].many == "tokens");
  CHECK(made[4].text == " and ");
  CHECK(made[5].text == "reserved");
  CHECK(made[6].text == ".");
}

TEST_CASE("sentences: a file that is wrong is refused with its line, and what was meant") {
  check_refused("[gap.empty]\nIt is {empty.\n",
                "mine.txt:2: found '{' without '}' in the same line");
  check_refused("\n[gap.empty]\nIt } is.\n", "mine.txt:3: found '}' without '{' before it");
  check_refused("[gap.empt]\nx.\n",
                "mine.txt:1: there is no sentence [gap.empt]; did you mean gap.empty?");
  check_refused("[gap.here]\nStep {stop}.\n",
                "mine.txt:2: this sentence has no value 'stop'; it has step; did you mean step?");
  check_refused("[gap.empty]\nStep {step}.\n",
                "mine.txt:2: this sentence has no value 'step'; it has none");
  check_refused("[gap.here]\n{step:one} step.\n",
                "mine.txt:2: expected two words with a bar between them, as {drafts:draft|drafts}; "
                "found {step:one}");
  check_refused("[gap.here]\n{step:a|b|c} step.\n",
                "mine.txt:2: expected two words with a bar between them, as {drafts:draft|drafts}; "
                "found {step:a|b|c}");
  check_refused("[gap.empty]\nIt holds 3 steps.\n",
                "mine.txt:2: found the digit '3'; a number is a value, which is another one in "
                "every step");
  check_refused("[gap.here]\n{step:1|2} steps.\n",
                "mine.txt:2: found the digit '1'; a number is a value, which is another one in "
                "every step");
  check_refused("[gap.empty]\nIt is. And more.\n",
                "mine.txt:2: expected one sentence; found more after 'It is.'");
  check_refused("[gap.empty]\nIt is empty\n",
                "mine.txt:2: expected a full stop at the end of [gap.empty]");
  check_refused("[gap.here]\nIt is {step}\n",
                "mine.txt:2: expected a full stop at the end of [gap.here]");
  check_refused("[gap.empty]\n[gap.here]\nx.\n", "mine.txt:1: [gap.empty] has no text");
  check_refused("[gap.empty\nx.\n", "mine.txt:1: expected ']' at the end of '[gap.empty'");
  check_refused("[gap.empty]\nx.\n[gap.empty]\ny.\n",
                "mine.txt:3: [gap.empty] stands in line 1 already");
  check_refused("x.\n[gap.empty]\ny.\n",
                "mine.txt:1: expected a sentence's name, as [accept.bonus], first");
  check_refused(std::string((1u << 20) + 1, ' '),
                "mine.txt:1: expected at most a megabyte; found 1048577 bytes");
}

TEST_CASE("sentences: one of many short lines is read line by line, and is still one sentence") {
  std::string text = "[begin.next]\n";
  for (int i = 0; i < 20000; ++i) text += "a\n";
  const Template made = with(text + "b.").at("begin.next");
  REQUIRE(made.size() == 1);
  CHECK(made[0].text.size() == 2 * 20000 + 2);
  check_refused("[begin.next]\nOne.\nTwo.\n",
                "mine.txt:3: expected one sentence; found more after 'One.'");
  check_refused(
      "[begin.next]\nOne\nand 2.\n",
      "mine.txt:3: found the digit '2'; a number is a value, which is another one in every step");
  check_refused("[begin.prompt]\nOne\n} {last}.\n", "mine.txt:3: found '}' without '{' before it");
}

TEST_CASE("sentences: a reason has a short form beside the long one") {
  const Sentences made = with("[reason.drawn]\nshort: of max(0, p):\n  {p} {u}\n");
  const Template& words = made.short_of("reason.drawn");
  REQUIRE(words.size() == 4);
  CHECK(words[0].text == "of max(0, p): ");
  CHECK(words[1].text == "p");
  CHECK(words[3].text == "u");
  CHECK(made.at("reason.drawn").size() == Sentences::standard().at("reason.drawn").size());
  CHECK_THROWS_AS(made.short_of("gap.empty"), Error);
  check_refused("[gap.empty]\nIt is.\nshort: it is\n",
                "mine.txt:3: [gap.empty] is told in full alone; found 'short:'");
  check_refused("[reason.eos]\nshort: a\nshort: b\n",
                "mine.txt:3: found 'short:' a second time in [reason.eos]");
  check_refused("[reason.eos]\nshort:\n", "mine.txt:1: [reason.eos] has no text");
  check_refused("[reason.not_sent]\nNot sent.\n",
                "mine.txt:2: [reason.not_sent] is told in short alone; expected 'short:' first");
  check_refused("[reason.drawn]\nshort: drawn, 3 times\n",
                "mine.txt:2: found the digit '3'; a number is a value, which is another one in "
                "every step");
  check_refused("[reason.drawn]\nshort: {node} is drawn\n",
                "mine.txt:2: this sentence has no value 'node'; it has p, u");
}

TEST_CASE("sentences: a missing one is named") {
  std::vector<AssetFile> files = asset_files("assets/narration/", "");
  std::erase_if(files, [](const AssetFile& file) { return file.path.ends_with("observe.txt"); });
  try {
    Sentences::read(files);
    FAIL_CHECK("not refused");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "narration: no file has the sentence [observe.plain]");
  }
}

TEST_CASE("assets: a file of one's own comes behind the built-in one of the same name") {
  const test::TempDir dir;
  std::filesystem::create_directories(dir.path() / "assets" / "narration");
  const auto path = dir.path() / "assets" / "narration" / "commit.txt";
  std::ofstream(path) << "[commit.nothing]\nNothing dies.\n";
  const auto files = asset_files("assets/narration/", dir.path().string());
  const auto built_in = asset_files("assets/narration/", "");
  REQUIRE(files.size() == built_in.size() + 1);
  std::size_t found = 0;
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (files[i].path != path.string()) continue;
    CHECK(files[i - 1].path == "assets/narration/commit.txt");
    CHECK(files[i].text == "[commit.nothing]\nNothing dies.\n");
    ++found;
  }
  CHECK(found == 1);
  CHECK(Sentences::read(files).at("commit.nothing").front().text == "Nothing dies.");
  CHECK(asset_files("docs/glossary.md", "").size() == 1);
  CHECK_THROWS_WITH_AS(asset_files("", (dir.path() / "none").string()),
                       doctest::Contains("TRIESCOPE_ASSETS: expected a folder"), Error);
}

}  // namespace
}  // namespace triescope::viz::test_sentences
