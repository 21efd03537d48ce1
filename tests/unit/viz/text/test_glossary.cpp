// The glossary is the one source for the meanings of terms.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "core/base/error.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/draw/theme.h"
#include "viz/text/glossary.h"

namespace triescope::viz::test_glossary {
namespace {

TEST_CASE("glossary: rows of a table, without marks") {
  const auto all = read_glossary(
      "# Words\n\n| term | meaning |\n|---|---|\n| row | one `token` that *is* read |\n| p | q |\n",
      "mine.md");
  REQUIRE(all.size() == 2);
  CHECK(all.at("row") == "one token that is read");
  CHECK(all.at("p") == "q");
}

TEST_CASE("glossary: a bad row is refused with its line") {
  for (const auto& [text, message] :
       {std::pair{"| a | b | c |\n", "g.md:1: expected a row of two cells, | term | meaning |"},
        std::pair{"\n| a | |\n", "g.md:2: expected a row of two cells, | term | meaning |"},
        std::pair{"| a | b |\n| a | c |\n", "g.md:2: 'a' stands there twice"}}) {
    try {
      read_glossary(text, "g.md");
      FAIL_CHECK("not refused");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kCorruption);
      CHECK(std::string(error.what()) == message);
    }
  }
}

TEST_CASE("glossary: every word of a mark, every owner and every column head is in it") {
  const Theme theme = dark_theme();
  for (int state = static_cast<int>(capture::NodeState::kPending);
       state <= static_cast<int>(capture::NodeState::kProbe); ++state) {
    const std::string word(theme.mark(static_cast<capture::NodeState>(state)).word);
    CAPTURE(word);
    CHECK_FALSE(meaning_of(word).empty());
  }
  for (const char* term : {"token",
                           "source",
                           "p",
                           "p′",
                           "q",
                           "u",
                           "score",
                           "gap",
                           "log p",
                           "Σ log p",
                           "final score",
                           "live",
                           "garbage",
                           "free",
                           "reserved",
                           "moved",
                           "reused",
                           "greedy",
                           "batch beam",
                           "tree position",
                           "sequential ID",
                           "target",
                           "draft model",
                           "draft head",
                           "ancestor"}) {
    CAPTURE(term);
    CHECK_FALSE(meaning_of(term).empty());
  }
  CHECK(meaning_of("pie").empty());
  CHECK(meaning_of("p (verdict)") == meaning_of("p"));
}

TEST_CASE("inspector: every fact about a node is explained where its label stands") {
  Scene scene = test::scene_at(test::draft_capture(), test::draft_capture().end_tick());
  scene.focus.locked = 3;
  const auto panel = make_panel("inspector");
  const Rect area{0, 0, 600, 1200};
  const auto canvas = test::drawn(*panel, scene, area);
  std::istringstream csv(panel->csv(scene));
  std::string line;
  std::getline(csv, line);
  std::size_t facts = 0;
  while (std::getline(csv, line)) {
    if (line.starts_with("\"")) continue;  // a label with a comma: min(1, p/q)
    const std::string label = line.substr(0, line.find(','));
    CAPTURE(label);
    const auto* text = test::find(canvas, label);
    REQUIRE(text);
    const auto term = std::ranges::find(canvas.terms, label);
    REQUIRE(term != canvas.terms.end());
    const Rect& asks = canvas.term_areas[static_cast<std::size_t>(term - canvas.terms.begin())];
    CHECK(asks.contains({text->box.x + text->box.w / 2, text->box.y + text->box.h / 2}));
    CHECK_FALSE(meaning_of(label).empty());
    ++facts;
  }
  CHECK(facts >= 12);
}

TEST_CASE("glossary: links stand behind an arrow, and are no part of the meaning") {
  const char* const text =
      "| beam | a text → [trie](panel:trie), [lesson 3](../assets/lessons/03-x.md) |\n"
      "| arrow | what a → b says |\n| plain | a text |\n";
  const auto meanings = read_glossary(text, "g.md");
  CHECK(meanings.at("beam") == "a text");
  CHECK(meanings.at("arrow") == "what a → b says");
  const auto links = read_glossary_links(text, "g.md");
  REQUIRE(links.size() == 1);
  CHECK(links.at("beam") ==
        std::vector<GlossaryLink>{{GlossaryLink::Kind::kPanel, "trie", "trie"},
                                  {GlossaryLink::Kind::kLesson, "lesson 3", "03-x"}});
}

TEST_CASE("glossary: a link to something else is refused with its line") {
  for (const char* const links : {"[a](https://x.org)", "[a](panel:trie) [b](panel:kv)",
                                  "[a](panel:trie", "[a", "[a](b.md),", "[a](panel:trie), b"}) {
    CAPTURE(links);
    CHECK_THROWS_WITH_AS(read_glossary_links(std::string("| a | b → ") + links + " |\n", "g.md"),
                         doctest::Contains("g.md:1: expected links behind the arrow"), Error);
  }
}

}  // namespace
}  // namespace triescope::viz::test_glossary
