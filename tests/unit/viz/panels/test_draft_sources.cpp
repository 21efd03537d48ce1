// Where drafts come from, as a recorder's figures say it: the lists in the drafts panel, the match in the text panel,
// the order of growth in the trie.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/capture/metric_names.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/text_lines.h"
#include "viz/query/draft_figures.h"
#include "viz/query/draft_match.h"
#include "viz/query/metrics.h"
#include "viz/query/token_lists.h"

namespace triescope::test::test_draft_sources {
namespace {

constexpr viz::Rect kArea{0, 0, 900, 500};

// Prompt tokens 0, 1, 2; then node 1 (token 1) is text, and step 1 drafts 2 (token 3) with 3 (token 4) below it and 4
// (token 5) beside. `add` writes the figures of the draft phase.
template <class Add>
std::unique_ptr<OpenedCapture> run_with(const Add& add) {
  return make_capture([&](Recorder& out) {
    const Tick prefill = make_tick(0, Phase::kAccept), draft = make_tick(1, Phase::kDraft);
    RowTables rows;
    rows.run = synthetic_info(3, "lookup", "Look-up", "recycle");
    rows.drafters = {synthetic_drafter()};
    for (std::int32_t i = 0; i < 10; ++i)
      rows.pieces.push_back({i, std::string(1, static_cast<char>('a' + i))});
    const auto node = [&](std::int32_t id, std::int32_t parent, std::int32_t token,
                          std::int32_t depth) {
      rows.nodes.push_back({.node = id,
                            .parent = parent,
                            .token = token,
                            .depth = depth,
                            .source = id == 1 ? Source::kGreedy : Source::kDraft,
                            .tick = id == 1 ? prefill : draft,
                            .drafter = id == 1 ? -1 : 0});
    };
    rows.nodes.push_back({});
    node(1, 0, 1, 1);
    node(2, 1, 3, 2);
    node(3, 2, 4, 3);
    node(4, 1, 5, 2);
    rows.frontier = {{.step = 0, .rank = 0, .node = 1}};
    add([&](const std::string& name, std::int32_t about, double value) {
      rows.metrics.push_back({.tick = draft, .node = about, .name = name, .value = value});
    });
    for (Tick tick = 0; tick < make_tick(1, Phase::kCommit); ++tick)
      rows.phases.push_back({.tick = tick, .start_us = tick * 10, .duration_us = 10});
    out.write(rows);
  });
}

// A line "h a b d e i": "a b" matched, d and e are drafts 2 and 3.
const Capture& looked_up() {
  static const auto opened = run_with([](const auto& figure) {
    for (const auto& [token, node] : {std::pair(7, -1), std::pair(0, -1), std::pair(1, 1),
                                      std::pair(3, 2), std::pair(4, 3), std::pair(8, -1)})
      figure(std::string(capture::kTokenList) + "datastore", node, token);
    figure(std::string(capture::kMatchedTokens), 2, 2);
    figure(std::string(capture::kFoundAt), 2, 41);
    figure(std::string(capture::kPlaces), 2, 6);
    figure(std::string(capture::kPlaces), 3, 5);
  });
  return *opened->capture;
}
const Tick kDrafted = make_tick(1, Phase::kForward);

bool says(const RecordingCanvas& canvas, const std::string& part) {
  return std::ranges::any_of(
      canvas.texts, [&](const auto& one) { return one.text.find(part) != std::string::npos; });
}

TEST_CASE("draft sources: a list has its tokens in order, the match before its first draft") {
  const auto lists = viz::token_lists(looked_up(), 1, kDrafted);
  REQUIRE(lists.size() == 1);
  CHECK(lists[0].title == "datastore");
  CHECK(lists[0].match.tokens == 2);
  CHECK(lists[0].match.place == 41);
  CHECK(lists[0].match.count == 6);
  std::string matched, nodes;
  for (const auto& token : lists[0].tokens) {
    matched += token.matched ? 'x' : '.';
    nodes += std::to_string(token.node) + " ";
  }
  CHECK(matched == ".xx...");
  CHECK(nodes == "-1 -1 1 2 3 -1 ");
  // What the cursor has not seen, and steps without lists.
  CHECK(viz::token_lists(looked_up(), 1, make_tick(1, Phase::kDraft)).empty());
  CHECK(viz::token_lists(looked_up(), 0, kDrafted).empty());
  CHECK(viz::token_lists(looked_up(), -1, kDrafted).empty());
}

TEST_CASE(
    "draft sources: numbers that no list can have are left out, and rows share a table by title") {
  const auto opened = run_with([](const auto& figure) {
    const std::string name = std::string(capture::kTokenList) + "window 2";
    for (const double value : {2.0, -1.0, std::nan(""), 1e300, 4.0}) figure(name, -1, value);
    figure(std::string(capture::kTokenList) + "pool", -1, 1);
    figure(std::string(capture::kTokenList) + "window 12", -1, 1);
  });
  const auto lists = viz::token_lists(*opened->capture, 1, kDrafted);
  REQUIRE(lists.size() == 3);
  CHECK(lists[0].tokens.size() == 2);
  CHECK(lists[0].table() == "window");
  CHECK(lists[1].table() == "pool");
  CHECK(lists[2].table() == "window");
}

TEST_CASE(
    "draft sources: they are no curves, and the lists in which a node stands are no figures of it") {
  const auto curves = viz::metric_curves(looked_up());
  REQUIRE(curves.size() == 1);
  CHECK(curves[0].name == capture::kMatchedTokens);
  const auto rows = viz::metrics_of_node(looked_up(), 2, kDrafted);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].name == capture::kMatchedTokens);
  CHECK(rows[1].name == capture::kFoundAt);
  CHECK(rows[2].name == capture::kPlaces);
}

TEST_CASE(
    "draft sources: the drafts panel tells the line and where it was found, and a click goes to its node") {
  const auto panel = viz::make_panel("drafts");
  const viz::Scene scene = scene_at(looked_up(), kDrafted);
  const auto canvas = drawn(*panel, scene, kArea);
  CHECK(find(canvas, "datastore"));
  CHECK(says(canvas, "2 tokens matched at token 41; the first draft follows in 6 places"));
  const auto* const context = find(canvas, "h");
  const auto* const second = find(canvas, "e");
  REQUIRE(context);
  REQUIRE(second);
  CHECK(context->box.x < second->box.x);
  auto in = mouse_over(*second);
  in.clicked = true;
  CHECK(panel->input(in, kArea, scene).lock == 3);
  in = mouse_over(*context);
  in.clicked = true;
  const auto reaction = panel->input(in, kArea, scene);
  CHECK_FALSE(reaction.lock);
  CHECK_FALSE(reaction.tooltip.empty());
  // The levels below are there as well.
  CHECK(find(canvas, "level"));
  // A pane too low for the list says so or leaves it out, and draws nothing below its end.
  for (const float height : {70.0f, 100.0f, 150.0f}) {
    const auto low = drawn(*panel, scene, {0, 0, 300, height});
    for (const auto& text : low.texts) CHECK(text.visible.bottom() <= height + 1);
  }
}

TEST_CASE("draft sources: in a narrow pane what stands before a match gives way to the drafts") {
  const auto opened = run_with([](const auto& figure) {
    for (const auto& [token, node] :
         {std::pair(6, -1), std::pair(7, -1), std::pair(8, -1), std::pair(9, -1), std::pair(0, -1),
          std::pair(1, 1), std::pair(3, 2), std::pair(4, 3)})
      figure(std::string(capture::kTokenList) + "datastore", node, token);
    figure(std::string(capture::kMatchedTokens), 2, 2);
  });
  const auto panel = viz::make_panel("drafts");
  const viz::Scene scene = scene_at(*opened->capture, kDrafted);
  CHECK(find(drawn(*panel, scene, kArea), "g"));
  const auto narrow = drawn(*panel, scene, {0, 0, 175, 500});
  CHECK_FALSE(find(narrow, "g"));
  for (const char* const kept : {"a", "b", "d", "e"}) CHECK(find(narrow, kept));
}

TEST_CASE("draft sources: rows of one table share their columns") {
  const auto opened = run_with([](const auto& figure) {
    const auto row = [&](const std::string& title, std::initializer_list<int> tokens) {
      for (const int token : tokens) figure(std::string(capture::kTokenList) + title, -1, token);
    };
    row("window 1", {6, 7});
    row("window 2", {8, 9});
  });
  const auto panel = viz::make_panel("drafts");
  const auto canvas = drawn(*panel, scene_at(*opened->capture, kDrafted), kArea);
  const auto x = [&](const std::string& token) {
    REQUIRE(find(canvas, token));
    return find(canvas, token)->box.x;
  };
  CHECK(x("g") == x("i"));
  CHECK(x("h") == x("j"));
  CHECK(x("h") > x("g"));
}

TEST_CASE("draft sources: a match in another text lights the end of the text alone") {
  const viz::DraftMatch match = viz::draft_match(looked_up(), kDrafted);
  CHECK(match.end == std::vector<std::int32_t>{-4, 1});
  CHECK(match.earlier.empty());
  CHECK(match.behind.empty());
  RecordingCanvas canvas;
  const auto lines = viz::lay_out_text(canvas, 600, scene_at(looked_up(), kDrafted));
  CHECK(std::ranges::count(lines.legend, "found in another text", &viz::LegendEntry::label) == 1);
  CHECK(std::ranges::count_if(lines.spans, [](const viz::TextSpan& span) {
          return span.found == viz::FoundAs::kMatch;
        }) == 2);
}

TEST_CASE(
    "draft sources: a tree that grew has its numbers on the trie's nodes, in its step alone") {
  const auto opened = run_with([](const auto& figure) {
    figure(std::string(capture::kGrownAs), 2, 1);
    figure(std::string(capture::kGrownAs), 4, 2);
    figure(std::string(capture::kGrownAs), 3, 13);
  });
  const auto order = viz::growth_order(viz::draft_figures(*opened->capture, 1));
  CHECK(order.size() == 3);
  CHECK(order.at(3) == 13);
  const auto panel = viz::make_panel("trie");
  CHECK(find(drawn(*panel, scene_at(*opened->capture, kDrafted), kArea), "13"));
  CHECK_FALSE(
      find(drawn(*panel, scene_at(*opened->capture, make_tick(1, Phase::kDraft)), kArea), "13"));
  CHECK_FALSE(find(drawn(*viz::make_panel("trie"), scene_at(looked_up(), kDrafted), kArea), "13"));
}

}  // namespace
}  // namespace triescope::test::test_draft_sources
