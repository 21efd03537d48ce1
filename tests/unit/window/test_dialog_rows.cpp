#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "app/lesson/lesson_library.h"
#include "app/session/text_tools.h"
#include "app/window/dialogs/dialog_rows.h"
#include "tests/unit/viz/captures.h"
#include "viz/panels/panel.h"
#include "viz/text/glossary.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::app::test_dialog_rows {
namespace {

using namespace triescope::capture;

TEST_CASE("what-if: ranks start at 1, figures are those recorded, what the run took is marked") {
  const Capture& run = test::beam_capture();
  const Tick cursor = make_tick(5, Phase::kCommit);
  const std::int32_t node = run.frontier(3).front().node;
  const auto candidates = run.candidates(node, cursor);
  REQUIRE(candidates.size() == 6);
  const WhatIf at = what_if_at(run, cursor, node);
  CHECK(at.node == node);
  REQUIRE(at.rows.size() == candidates.size());
  int taken = 0;
  for (std::size_t i = 0; i < at.rows.size(); ++i) {
    CHECK(at.rows[i].rank == std::to_string(i + 1));
    CHECK(at.rows[i].token == candidates[i].token);
    CHECK(at.rows[i].text == viz::token_text(run.piece(candidates[i].token)));
    CHECK(at.rows[i].p.size() == std::string("0.1234").size());
    CHECK(std::abs(std::stof(at.rows[i].p) - std::exp(candidates[i].logprob)) < 0.00006f);
    CHECK(at.rows[i].logprob == viz::logprob_text(candidates[i].logprob));
    const auto children = run.children(node);
    const bool is_child = std::any_of(children.begin(), children.end(), [&](std::int32_t child) {
      return run.nodes()[static_cast<std::size_t>(child)].token == candidates[i].token;
    });
    CHECK(at.rows[i].taken == is_child);
    taken += at.rows[i].taken ? 1 : 0;
  }
  CHECK(taken > 0);
}

TEST_CASE("what-if: without a focus after the best beam; a leaf that was not read is its parent") {
  const Capture& run = test::beam_capture();
  const Tick cursor = make_tick(5, Phase::kDraft);  // step 4 is done
  const std::int32_t leaf = run.frontier(4).front().node;
  const std::int32_t parent = run.nodes()[static_cast<std::size_t>(leaf)].parent;
  CHECK(what_if_at(run, cursor, -1).node == parent);
  CHECK(what_if_at(run, cursor, leaf).node == parent);
  CHECK(what_if_at(run, cursor, leaf).rows.size() == 6);
  CHECK(what_if_at(run, cursor, 1 << 20).node == -1);
  CHECK(what_if_at(run, cursor, 0).node == 0);
}

TEST_CASE("what-if: at a probe it is about the node of the text that the probe hangs from") {
  const auto opened = test::make_capture([](Recorder& out) {
    RowTables rows{.run = test::synthetic_info(2, "space", "SPACE", "recycle")};
    rows.nodes = {{}, {.node = 1, .parent = 0, .token = 5, .depth = 1, .tick = 2}};
    for (std::int32_t node = 2; node < 4; ++node)
      rows.nodes.push_back({.node = node,
                            .parent = node - 1,
                            .token = 6,
                            .depth = node,
                            .source = Source::kDraft,
                            .tick = 5,
                            .role = NodeRole::kProbe});
    for (std::int32_t node = 1; node < 4; ++node)
      rows.candidates.push_back({.tick = 6, .node = node, .token = 6, .logprob = -1});
    rows.phases = {{.tick = 6}};
    out.write(rows);
  });
  const Capture& run = *opened->capture;
  for (const std::int32_t node : {1, 2, 3}) {
    const WhatIf at = what_if_at(run, 7, node);
    CHECK(at.node == 1);
    REQUIRE(at.rows.size() == 1);
    CHECK_FALSE(at.rows[0].taken);  // the probe with this token is no child of the text
  }
}

TEST_CASE("about: every line has a name and a value, also where there is no CUDA") {
  const auto lines = version_lines();
  REQUIRE(lines.size() >= 3);
  for (const std::string& line : lines) {
    CAPTURE(line);
    const auto space = line.find(' ');
    REQUIRE(space != std::string::npos);
    CHECK(space > 0);
    CHECK(line.size() > space + 1);
    CHECK(line.find_last_not_of(" \"") == line.size() - 1);
  }
}

TEST_CASE("glossary: terms that begin with the query, then those that have it, then meanings") {
  const auto all = glossary_rows("");
  CHECK(all.size() == viz::glossary().size());
  REQUIRE(all.size() > 60);
  CHECK(std::is_sorted(all.begin(), all.end(), [](const auto& one, const auto& other) {
    return before_in_alphabet(one.first, other.first);
  }));
  CHECK(all.front().first == "accept");
  const auto rows = glossary_rows("GAP");
  REQUIRE(rows.size() >= 2);
  CHECK(rows[0].first == "gap");
  CHECK(rows[0].second == viz::meaning_of("gap"));
  CHECK(rows[1].first == "gap at the cut");
  const auto beams = glossary_rows("beam");
  REQUIRE(beams.size() >= 5);
  CHECK(beams[0].first == "beam");
  bool in_terms = true;  // meanings come last
  for (const auto& [term, meaning] : beams) {
    const bool holds = lower(term).find("beam") != std::string::npos;
    CHECK((holds || lower(meaning).find("beam") != std::string::npos));
    CHECK((in_terms || !holds));
    in_terms = in_terms && holds;
  }
  CHECK_FALSE(in_terms);
  CHECK(glossary_rows("no such words").empty());
}

TEST_CASE("glossary: letters before signs and digits, without regard to case") {
  CHECK(before_in_alphabet("accept", "beam"));
  CHECK(before_in_alphabet("Gumbel-max", "itself"));
  CHECK(before_in_alphabet("greedy", "Gumbel-max"));
  CHECK(before_in_alphabet("written in", "1st"));
  CHECK(before_in_alphabet("why", "Δ"));
  CHECK(before_in_alphabet("1st", "Δ"));
}

TEST_CASE("glossary: the terms that a beginner looks up are found first, by their beginning too") {
  for (const auto& [query, term] : {std::pair{"speculat", "speculative decoding"},
                                    {"speculative sampling", "speculative sampling"},
                                    {"kv cache", "KV cache"},
                                    {"logit", "logit"},
                                    {"softmax", "softmax"},
                                    {"temperature", "temperature"},
                                    {"top-k", "top-k"},
                                    {"top k", "top-k"},
                                    {"top p", "top-p"},
                                    {"nucleus", "top-p"},
                                    {"min-p", "min-p"},
                                    {"entropy", "entropy"},
                                    {"hidden", "hidden state"},
                                    {"acceptance", "acceptance rate"},
                                    {"attention", "attention"},
                                    {"sampling", "sampling"},
                                    {"distribution", "distribution"},
                                    {"vocab", "vocabulary"},
                                    {"layer", "layer"},
                                    {"eos", "end of sequence"},
                                    {"context", "context length"},
                                    {"beam search", "beam search"},
                                    {"prefill", "prefill"},
                                    {"token", "token"},
                                    {"draft model", "draft model"},
                                    {"verif", "verification"},
                                    {"medusa", "Medusa"},
                                    {"eagle", "EAGLE"},
                                    {"lookahead", "Lookahead"},
                                    {"breakpoint", "breakpoint"}}) {
    CAPTURE(query);
    const auto rows = glossary_rows(query);
    REQUIRE_FALSE(rows.empty());
    CHECK(rows[0].first == term);
  }
}

TEST_CASE("glossary: every link leads to a panel that there is, or to a lesson of the program") {
  std::vector<std::string> problems;
  std::set<std::string> lessons;
  for (const LibraryLesson& lesson : library_lessons(problems)) lessons.insert(lesson.id);
  REQUIRE(problems.empty());
  const auto panels = viz::panel_names();
  std::size_t links = 0;
  for (const auto& [term, meaning] : viz::glossary()) {
    CAPTURE(term);
    CHECK(meaning.find("](") == std::string::npos);
    CHECK(meaning.find("→") == std::string::npos);
    for (const viz::GlossaryLink& link : viz::glossary_links(term)) {
      CAPTURE(link.target);
      ++links;
      if (link.kind == viz::GlossaryLink::Kind::kPanel) {
        REQUIRE(std::ranges::count(panels, link.target) == 1);
        CHECK(viz::make_panel(link.target)->info().title == link.text);
      } else {
        CHECK(lessons.count(link.target) == 1);
        // "lesson 3" is 03-….
        CHECK(std::stoi(link.text.substr(link.text.find(' '))) == std::stoi(link.target));
      }
    }
  }
  CHECK(links > 80);
  CHECK(viz::glossary_links("KV cache").size() >= 2);
  CHECK(viz::glossary_links("no such term").empty());
}

}  // namespace
}  // namespace triescope::app::test_dialog_rows
