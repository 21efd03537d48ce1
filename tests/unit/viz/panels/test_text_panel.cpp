// The text panel says once what all texts share, and shows whole lines.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/panel.h"
#include "viz/panels/text_lines.h"

namespace triescope::test::test_text_panel {
namespace {

// Records two beams that begin with `shared` tokens, nodes 1 to n, and then have one token each.
std::unique_ptr<OpenedCapture> two_beams(int shared, std::vector<std::int32_t> own = {6, 8},
                                         std::int32_t shared_token = 7) {
  return make_capture([=](Recorder& out) {
    out.write({.run = synthetic_info(3, "beam", "Trie beam search", "recycle")});
    const auto& pieces = synthetic_pieces();
    for (std::size_t i = 0; i < pieces.size(); ++i)
      out.write({.pieces = {{static_cast<std::int32_t>(i), pieces[i]}}});
    const Tick accept = make_tick(0, Phase::kAccept);
    std::vector<NodeRow> nodes = {{.node = 0}};
    for (int i = 1; i <= shared; ++i)
      nodes.push_back(
          {.node = i, .parent = i - 1, .token = shared_token, .depth = i, .tick = accept});
    std::vector<VerdictRow> verdicts;
    std::vector<FrontierRow> frontier;
    for (int rank = 0; rank < 2; ++rank) {
      const std::int32_t node = shared + 1 + rank;
      nodes.push_back({.node = node,
                       .parent = shared,
                       .token = own[static_cast<std::size_t>(rank)],
                       .depth = shared + 1,
                       .score = -1.0f - static_cast<float>(rank),
                       .tick = accept});
      verdicts.push_back({.tick = accept, .node = node, .verdict = Verdict::kKept, .rank = rank});
      frontier.push_back({.rank = rank, .node = node, .score = -1.0f - static_cast<float>(rank)});
    }
    out.write({.nodes = nodes});
    out.write({.verdicts = verdicts});
    out.write({.frontier = frontier});
    out.write({.phases = {{.tick = accept}}});
  });
}

viz::Scene scene_of(const OpenedCapture& run) {
  return scene_at(*run.capture, make_tick(0, Phase::kCommit));
}

int drawings_of(const RecordingCanvas& canvas, const std::string& text) {
  return static_cast<int>(std::ranges::count(canvas.texts, text, &RecordingCanvas::Text::text));
}

constexpr viz::Rect kArea{0, 0, 900, 600};

TEST_CASE("text: what all beams begin with stands above them, once") {
  const auto run = two_beams(5);
  const auto panel = viz::make_panel("text");
  const auto canvas = drawn(*panel, scene_of(*run), kArea);
  CHECK(find(canvas, "5 tokens shared by all 2: show in each"));
  CHECK(drawings_of(canvas, " a") + drawings_of(canvas, "a") == 5);
  CHECK(drawings_of(canvas, "… ") == 2);
  const auto* shared = find(canvas, "5 tokens shared by all 2: show in each");
  const auto* first = find(canvas, "beam 1   Σ log p -1.000");
  REQUIRE(first);
  CHECK(shared->box.y < first->box.y);
}

TEST_CASE("text: a short common beginning is not folded, a single text has nothing to share") {
  const auto run = two_beams(3);
  const auto canvas = drawn(*viz::make_panel("text"), scene_of(*run), kArea);
  CHECK(drawings_of(canvas, " a") + drawings_of(canvas, "a") == 6);
  CHECK(drawings_of(canvas, "… ") == 0);
  for (const auto& text : canvas.texts) CHECK(text.text.find("shared") == std::string::npos);
  const auto four = two_beams(4);
  CHECK(find(drawn(*viz::make_panel("text"), scene_of(*four), kArea),
             "4 tokens shared by all 2: show in each"));
}

TEST_CASE("text: a click on the heading, or Z, shows the shared beginning in each beam and back") {
  const auto run = two_beams(5);
  const viz::Scene scene = scene_of(*run);
  const auto panel = viz::make_panel("text");
  auto canvas = drawn(*panel, scene, kArea);
  CHECK(panel->view_state() == "");
  viz::Input in = mouse_over(*find(canvas, "5 tokens shared by all 2: show in each"));
  CHECK_FALSE(panel->input(in, kArea, scene).tooltip.empty());
  in.clicked = true;
  CHECK_FALSE(panel->input(in, kArea, scene).lock);
  CHECK(panel->view_state() == "shared=each");
  canvas = drawn(*panel, scene, kArea);
  CHECK(drawings_of(canvas, " a") + drawings_of(canvas, "a") == 10);
  CHECK(find(canvas, "5 tokens shared by all 2: show once"));
  viz::Input key;
  key.fold = true;
  panel->input(key, kArea, scene);
  CHECK(panel->view_state() == "");
  const auto other = viz::make_panel("text");
  other->set_view_state("shared=each");
  CHECK(other->view_state() == "shared=each");
}

TEST_CASE("text: what is shared ends where a character does") {
  // Tokens 37 and 38 are the two halves of '€'; the fourth shared token is such a first half.
  const auto run = make_capture([](Recorder& out) {
    out.write({.run = synthetic_info(3, "beam", "Trie beam search", "recycle")});
    const auto& pieces = synthetic_pieces();
    for (std::size_t i = 0; i < pieces.size(); ++i)
      out.write({.pieces = {{static_cast<std::int32_t>(i), pieces[i]}}});
    const Tick accept = make_tick(0, Phase::kAccept);
    std::vector<NodeRow> nodes = {{.node = 0}};
    for (int i = 1; i <= 5; ++i)
      nodes.push_back(
          {.node = i, .parent = i - 1, .token = i == 5 ? 37 : 7, .depth = i, .tick = accept});
    nodes.push_back({.node = 6, .parent = 5, .token = 38, .depth = 6, .tick = accept});
    nodes.push_back({.node = 7, .parent = 5, .token = 9, .depth = 6, .tick = accept});
    out.write({.nodes = nodes});
    out.write({.verdicts = {{.tick = accept, .node = 6, .verdict = Verdict::kKept, .rank = 0},
                            {.tick = accept, .node = 7, .verdict = Verdict::kKept, .rank = 1}}});
    out.write({.frontier = {{.rank = 0, .node = 6}, {.rank = 1, .node = 7}}});
    out.write({.phases = {{.tick = accept}}});
  });
  const auto canvas = drawn(*viz::make_panel("text"), scene_of(*run), kArea);
  CHECK(find(canvas, "4 tokens shared by all 2: show in each"));
  CHECK(find(canvas, "€"));
}

TEST_CASE("text: lines are shown whole, and a corner leads to what is out of sight") {
  const Capture& run = beam_capture();
  const viz::Scene scene = scene_at(run, run.end_tick());
  for (const float height : {97.0f, 140.0f, 141.0f, 163.0f}) {
    CAPTURE(height);
    const viz::Rect area{10, 20, 345, height};
    const auto panel = viz::make_panel("text");
    for (int page = 0; page < 25; ++page) {
      const auto canvas = drawn(*panel, scene, area);
      for (const auto& text : canvas.texts) {
        CAPTURE(text.text);
        CHECK(text.box.y >= area.y - 0.01f);
        CHECK(text.box.bottom() <= area.bottom() + 0.5f);
      }
      // The corner at the bottom goes to the next page.
      viz::Input in = mouse_at({area.right() - 4, area.bottom() - 4});
      const auto reaction = panel->input(in, area, scene);
      if (page == 0)
        CHECK(reaction.tooltip == std::vector<std::string>{"more below: click, or scroll"});
      in.clicked = true;
      panel->input(in, area, scene);
    }
    const auto last = drawn(*panel, scene, area);
    CHECK(panel->input(mouse_at({area.right() - 4, area.bottom() - 4}), area, scene).tooltip !=
          std::vector<std::string>{"more below: click, or scroll"});
    viz::Input up = mouse_at({area.right() - 4, area.y + 4});
    CHECK(panel->input(up, area, scene).tooltip ==
          std::vector<std::string>{"more above: click, or scroll"});
    const auto tops = [](const RecordingCanvas& canvas) {
      std::string all;
      for (const auto& text : canvas.texts) all += text.text + "|";
      return all;
    };
    up.clicked = true;
    panel->input(up, area, scene);
    CHECK(tops(drawn(*panel, scene, area)) != tops(last));
  }
}

TEST_CASE("text: a place that was scrolled to comes back after a text that is shorter") {
  const Capture& run = beam_capture();
  const viz::Scene scene = scene_at(run, run.end_tick());
  const viz::Rect area{10, 20, 345, 97};
  const auto panel = viz::make_panel("text");
  const auto texts = [](const RecordingCanvas& canvas) {
    std::string all;
    for (const auto& text : canvas.texts) all += text.text + "|";
    return all;
  };
  const std::string top = texts(drawn(*panel, scene, area));
  viz::Input down = mouse_at({area.right() - 4, area.bottom() - 4});
  down.clicked = true;
  panel->input(down, area, scene);
  const std::string scrolled = texts(drawn(*panel, scene, area));
  CHECK(scrolled != top);
  drawn(*panel, scene_at(run, 0), area);
  CHECK(texts(drawn(*panel, scene, area)) == scrolled);
}

TEST_CASE("text: a scroll stops at the line that begins there or next") {
  viz::TextLines lines;
  lines.tops = {0, 30, 52, 74};
  CHECK(viz::scroll_to_line(lines, 0) == 0);
  CHECK(viz::scroll_to_line(lines, 1) == 30);
  CHECK(viz::scroll_to_line(lines, 30.4f) == 30);
  CHECK(viz::scroll_to_line(lines, 31) == 52);
  CHECK(viz::scroll_to_line(lines, 90) == 74);
}

TEST_CASE("text: three beams of a line each are seen in the pane of the debug layout at 1280×720") {
  // The pane has 345 × 141 px at 15 px an em there.
  const auto run = make_capture([](Recorder& out) { record_beam(out, 4, 3); });
  viz::Scene scene = scene_at(*run->capture, make_tick(2, Phase::kDraft));
  scene.em = 15;
  const auto canvas = drawn(*viz::make_panel("text"), scene, {0, 0, 345, 141});
  int heads = 0;
  for (const auto& text : canvas.texts) heads += text.text.starts_with("beam ") ? 1 : 0;
  CHECK(heads == 3);
  CHECK(canvas.texts.back().text.find("beam") == std::string::npos);  // the third beam has its text
}

}  // namespace
}  // namespace triescope::test::test_text_panel
