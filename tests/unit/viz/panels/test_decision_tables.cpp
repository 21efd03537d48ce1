// The tables of the decision panel, over decisions made by hand: how one token is drawn, and which
// hypotheses count as finished.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/beam_table.h"
#include "viz/panels/draw_table.h"
#include "viz/query/beam_decision.h"
#include "viz/query/draw_decision.h"

namespace triescope::test::test_decision_tables {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

// Top-k leaves three of " Paris", " a", " France" and " city"; top-p leaves two; " a" is drawn.
viz::DrawDecision drawing() {
  viz::DrawDecision d;
  d.step = 2;
  d.decided = true;
  d.token = 7;
  d.u = 0.6f;
  d.stages = {Stage::kTopK, Stage::kTopP};
  d.tokens = {{5, {0.4f, 0.444f, 0.571f}, kNone, 0.571f, 0},
              {7, {0.3f, 0.333f, 0.429f}, kNone, 0.429f, 0.571f},
              {3, {0.2f, 0.222f, 0}, kNone, 0, kNone},
              {8, {0.1f, 0, 0}, kNone, 0, kNone}};
  return d;
}

RecordingCanvas table_of(viz::DrawTable& table, const viz::DrawDecision& decision, viz::Rect area) {
  RecordingCanvas canvas;
  table.draw(canvas, area, decision, {}, scene_at(draft_capture(), 150));
  return canvas;
}

// True if a text is drawn in this colour.
bool is_drawn_in(const RecordingCanvas& canvas, const std::string& text, viz::Color c) {
  char color[16];
  std::snprintf(color, sizeof color, " %02x%02x%02x%02x", c.r, c.g, c.b, c.a);
  return std::any_of(canvas.calls.begin(), canvas.calls.end(), [&](const std::string& call) {
    return call.starts_with("text " + text + " ") && call.ends_with(color);
  });
}

TEST_CASE("draw table: the last stage is p′; what a stage cuts is said once, its token is dim") {
  viz::DrawTable table;
  const auto canvas = table_of(table, drawing(), {0, 0, 900, 400});
  for (const char* head : {"token", "p", "top-k", "top-p = p′"}) CHECK(find(canvas, head));
  CHECK_FALSE(find(canvas, "top-p"));
  CHECK_FALSE(find(canvas, "top-k = p′"));
  for (const char* figure : {"0.4000", "0.4440", "0.5710", "0.3330", "0.4290", "0.2220", "0.1000"})
    CHECK(find(canvas, figure));
  CHECK(std::count_if(canvas.texts.begin(), canvas.texts.end(),
                      [](const auto& text) { return text.text == "cut"; }) == 2);
  const viz::Theme theme = viz::dark_theme();
  CHECK(is_drawn_in(canvas, "·Paris", theme.text));
  CHECK(is_drawn_in(canvas, "·a", theme.text));
  CHECK(is_drawn_in(canvas, "·France", theme.text_dim));
  CHECK(is_drawn_in(canvas, "·city", theme.text_dim));
  // In a narrow pane the stages in the middle go first.
  const auto narrow = table_of(table, drawing(), {0, 0, 240, 400});
  CHECK(find(narrow, "p"));
  CHECK_FALSE(find(narrow, "top-k"));
  CHECK(find(narrow, "0.4290"));
}

TEST_CASE("draw table: u falls on the strip into the share of the token that is drawn") {
  const viz::Scene scene = scene_at(draft_capture(), 150);
  viz::DrawTable table;
  const auto canvas = table_of(table, drawing(), {0, 0, 900, 400});
  const auto* label = find(canvas, "u = 0.600");
  REQUIRE(label);
  CHECK(label->box.x + label->box.w / 2 == doctest::Approx(540).epsilon(0.01));
  const auto tooltip = [&](float x) {
    viz::Reaction reaction;
    table.input(mouse_at({x, label->box.bottom() + 10}), drawing(), scene, reaction);
    return reaction;
  };
  REQUIRE(tooltip(100).tooltip.size() > 1);
  CHECK(tooltip(100).tooltip[0] == "token 5  ·Paris");
  CHECK(tooltip(512).tooltip[0] == "token 5  ·Paris");
  CHECK(tooltip(516).tooltip[0] == "token 7  ·a");
  CHECK(tooltip(890).tooltip.back() == "chosen: '·a': u 0.600 lies in its 0.571 to 1.000");
  viz::DrawDecision unknown = drawing();
  unknown.tokens[1].at = kNone;  // not recorded: nothing is claimed there
  viz::Reaction reaction;
  table.input(mouse_at({800, label->box.bottom() + 10}), unknown, scene, reaction);
  CHECK(reaction.tooltip == std::vector<std::string>{"other tokens, not recorded one by one"});
  // There is no strip without a draw, without u, or with noise.
  for (int i = 0; i < 3; ++i) {
    viz::DrawDecision none = drawing();
    if (i == 0) none.decided = false;
    if (i == 1) none.u = -1;
    if (i == 2) none.gumbel = true;
    const auto plain = table_of(table, none, {0, 0, 900, 400});
    CHECK(std::none_of(plain.texts.begin(), plain.texts.end(),
                       [](const auto& text) { return text.text.starts_with("u = "); }));
  }
}

// A beam search of eight texts; the first `found` of them finished on the way.
std::unique_ptr<OpenedCapture> finishing(std::int32_t found, std::int32_t returned) {
  return make_capture([&](Recorder& out) {
    const Tick accept = make_tick(0, Phase::kAccept);
    RowTables rows{.run = synthetic_info(3, "beam", "", "recycle"), .nodes = {{}}};
    for (std::int32_t id = 1; id <= 8; ++id)
      rows.nodes.push_back({.node = id,
                            .parent = 0,
                            .token = id,
                            .depth = 1,
                            .source = Source::kBeam,
                            .tick = accept});
    for (std::int32_t id = 1; id <= found; ++id)
      rows.sequences.push_back({.tick = accept,
                                .node = id,
                                .score = -1.0f * static_cast<float>(id),
                                .finish = "eos",
                                .tokens = {id}});
    for (std::int32_t rank = 0; rank < returned; ++rank)
      rows.sequences.push_back({.tick = accept + 2,
                                .node = found + rank,
                                .rank = rank,
                                .score = -0.5f * static_cast<float>(found + rank),
                                .finish = "length",
                                .tokens = {1}});
    rows.phases = {{.tick = make_tick(0, Phase::kObserve)}};
    out.write(rows);
  });
}

TEST_CASE("beam table: up to four finished hypotheses are listed, of more the best three") {
  for (const auto& [found, rows] : {std::pair{0, 1}, {1, 3}, {3, 5}, {4, 6}, {5, 5}, {8, 5}}) {
    CAPTURE(found);
    const auto opened = finishing(found, 0);
    CHECK(viz::BeamTable::rows({}, scene_at(*opened->capture, 5)) ==
          static_cast<std::size_t>(rows));
  }
}

TEST_CASE("beam table: a hypothesis that was returned as well is listed once, by its own score") {
  const auto opened = finishing(3, 2);
  const auto nodes = [&](Tick cursor) {
    std::vector<std::int32_t> all;
    for (const SequenceRow& row : viz::finished_hypotheses(scene_at(*opened->capture, cursor)))
      all.push_back(row.node);
    return all;
  };
  const Tick accept = make_tick(0, Phase::kAccept);
  CHECK(nodes(accept).empty());
  CHECK(nodes(accept + 1) == std::vector<std::int32_t>{1, 2, 3});
  CHECK(nodes(accept + 2) == std::vector<std::int32_t>{1, 2, 3});
  CHECK(nodes(accept + 3) == std::vector<std::int32_t>{1, 2, 4, 3});  // -1, -2, -2, -3
}

}  // namespace
}  // namespace triescope::test::test_decision_tables
