// What is recorded and not as the tree asks: drawn as it was, marked, told in words and in the tables.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/viz/faulty_runs.h"
#include "tests/unit/viz/looking.h"
#include "viz/draw/fault_text.h"
#include "viz/draw/node_text.h"
#include "viz/panels/mask_rows.h"
#include "viz/panels/text_lines.h"

namespace triescope::test::test_faults_drawn {
namespace {

const Capture& masked() { return faulty_capture<masked_wrongly>(); }
const Capture& shifted() { return faulty_capture<stale_and_shifted>(); }
const Capture& slots() { return faulty_capture<slots_taken_wrongly>(); }

viz::Scene after(const Capture& run, std::int32_t step) {
  return scene_at(run, make_tick(step + 1, Phase::kDraft));
}

std::vector<std::string> lines_of(const std::string& csv) {
  std::istringstream in(csv);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool says(const RecordingCanvas& canvas, const std::string& part) {
  return std::ranges::any_of(
      canvas.texts, [&](const auto& text) { return text.text.find(part) != std::string::npos; });
}

// Every tooltip line over the panel.
std::string tips(const std::string& name, const viz::Scene& scene, viz::Rect area) {
  const auto panel = viz::make_panel(name);
  drawn(*panel, scene, area);
  std::string text;
  for (float y = area.y; y < area.bottom(); y += 4)
    for (float x = area.x; x < area.right(); x += 4)
      for (const std::string& line : panel->input(mouse_at({x, y}), area, scene).tooltip)
        if (text.find(line) == std::string::npos) text += line + "\n";
  return text;
}

constexpr viz::Rect kArea{0, 0, 900, 420};

// The number of shapes in the colour of faults.
std::ptrdiff_t marks(viz::Panel& panel, const viz::Scene& scene) {
  const viz::Color color = scene.theme.fault;
  char text[16];
  std::snprintf(text, sizeof text, " %02x%02x%02x%02x", color.r, color.g, color.b, color.a);
  return std::ranges::count_if(drawn(panel, scene, kArea).calls,
                               [&](const std::string& call) { return call.ends_with(text); });
}

TEST_CASE("faults: the mask draws what a row saw, and says what the tree asks for") {
  const viz::Scene scene = after(masked(), 3);
  viz::MaskRows mask;
  REQUIRE(mask.update(viz::RowSource{}, scene, false));
  CHECK(mask.fault_count == 2);
  const auto column = [&](std::int32_t node) {
    return static_cast<std::size_t>(std::ranges::find(mask.columns, node) - mask.columns.begin());
  };
  const StepNodes at = masked_wrongly().of_step[3];
  CHECK(mask.cell(3, column(at.a)) == viz::MaskCell::kExtra);
  CHECK(mask.cell(2, column(at.root)) == viz::MaskCell::kMissing);
  CHECK(mask.cell(2, column(at.a)) == viz::MaskCell::kAncestor);
  CHECK(mask.cell(1, column(at.c)) == viz::MaskCell::kHidden);
  const auto canvas = drawn(*viz::make_panel("mask"), scene, kArea);
  CHECK(says(canvas, "2 cells not as the tree asks; such in 3 steps, first at step 3"));
  CHECK(find(canvas, "seen, not asked for"));
  CHECK(find(canvas, "asked for, not seen"));
  const std::string text = tips("mask", scene, kArea);
  CHECK(text.find("(its sibling); the tree asks for the prompt, its ancestors and itself") !=
        std::string::npos);
  CHECK(text.find("△ does not see ") != std::string::npos);
}

TEST_CASE("faults: a step that is right in a run that is not says so, and a click leads on") {
  const viz::Scene scene = after(masked(), 1);
  const auto panel = viz::make_panel("mask");
  const auto canvas = drawn(*panel, scene, kArea);
  const auto head = std::ranges::find_if(canvas.texts, [](const auto& text) {
    return text.text == "as the tree asks in this step; not so in 3 steps, first at step 3";
  });
  REQUIRE(head != canvas.texts.end());
  CHECK_FALSE(find(canvas, "seen, not asked for"));
  viz::Input in = mouse_over(*head);
  in.clicked = true;
  CHECK(panel->input(in, kArea, scene).cursor == make_tick(4, Phase::kDraft));
  CHECK(panel->input(in, kArea, after(masked(), 5)).cursor == make_tick(4, Phase::kDraft));
}

TEST_CASE("faults: the mask's table has the slots that were seen and those that were asked for") {
  const auto lines = lines_of(viz::mask_csv(viz::RowSource{}, after(masked(), 4), false));
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "step,row,node,position,slot,sees_prompt,visible_nodes,seen,expected");
  const StepNodes at = masked_wrongly().of_step[4];
  // The row of a lacks the prompt's first token, that of b the frontier; c sees a.
  CHECK(lines[1].ends_with(lines[1].substr(lines[1].rfind(',') + 1)));
  const auto fields = [](const std::string& line) {
    std::vector<std::string> found;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ',');) found.push_back(field);
    return found;
  };
  const auto right = fields(lines[1]), a = fields(lines[2]), b = fields(lines[3]),
             c = fields(lines[4]);
  CHECK(right[7] == right[8]);
  CHECK(a[5] == "0");
  CHECK(a[7].starts_with("1-"));
  CHECK(a[8].starts_with("0-"));
  CHECK(right[5] == "1");
  const auto nodes_of = [](const std::string& text) {
    std::istringstream in(text);
    return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
  };
  const auto has = [&](const std::string& list, std::int32_t node) {
    const auto nodes = nodes_of(list);
    return std::ranges::find(nodes, std::to_string(node)) != nodes.end();
  };
  CHECK_FALSE(has(b[6], at.root));
  CHECK(has(b[6], at.a));
  CHECK(has(c[6], at.a));
  CHECK(has(c[6], at.c));
  CHECK(c[7] != c[8]);
}

TEST_CASE("faults: stale KV and slots that hold nothing have columns of their own") {
  const viz::Scene scene = after(shifted(), 3);
  viz::MaskRows mask;
  REQUIRE(mask.update(viz::RowSource{}, scene, false));
  REQUIRE(mask.columns.back() == viz::MaskRows::kUnwritten);
  CHECK(mask.cell(0, mask.columns.size() - 1) == viz::MaskCell::kExtra);
  CHECK(mask.cell(1, mask.columns.size() - 1) == viz::MaskCell::kHidden);
  const std::string text = tips("mask", scene, kArea);
  CHECK(text.find("column: slots that nothing was written to") != std::string::npos);
  CHECK(text.find("▲ sees a slot that nothing was written to; the tree asks for ") !=
        std::string::npos);
  CHECK(text.find("refused or freed before this step (stale KV)") != std::string::npos);
  // In the order of slots, too.
  REQUIRE(mask.update(viz::RowSource{}, scene, true));
  CHECK(mask.columns.back() == viz::MaskRows::kUnwritten);
}

TEST_CASE(
    "faults: a position that is not asked for is drawn where it was, with where it should be") {
  const viz::Scene scene = after(shifted(), 3);
  const auto canvas = drawn(*viz::make_panel("positions"), scene, kArea);
  CHECK(says(canvas, "1 row not as the tree asks; such in 4 steps, first at step 2"));
  CHECK(find(canvas, "recorded, not asked for"));
  CHECK(find(canvas, "asked for"));
  const auto lines = lines_of(viz::make_panel("positions")->csv(scene));
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "step,row,node,position,sequential_id,expected");
  const InputRow a = shifted().inputs(3)[1], root = shifted().inputs(3)[0];
  CHECK(lines[2].ends_with("," + std::to_string(a.position - 1)));
  CHECK(lines[1].ends_with("," + std::to_string(root.position)));
  const std::string text = tips("positions", scene, kArea);
  CHECK(text.find("▲ stands at position " + std::to_string(a.position) + "; the tree asks for " +
                  std::to_string(a.position - 1) + " = prompt tokens + depth − 1") !=
        std::string::npos);
}

TEST_CASE("faults: a slot that is written over, or twice, is marked where it happened") {
  const viz::Scene scene = after(slots(), 3);
  const auto canvas = drawn(*viz::make_panel("kv"), scene, kArea);
  CHECK(says(canvas, "1 slot not as the tree asks; such in 2 steps, first at step 3"));
  CHECK(find(canvas, "not as the tree asks 1"));
  const MadeRun made = slots_taken_wrongly();
  const std::string text = tips("kv", scene, kArea);
  CHECK(text.find("▲ node " + std::to_string(made.of_step[2].root) + " ") != std::string::npos);
  CHECK(text.find("was written over it in the forward phase") != std::string::npos);
  const auto lines = lines_of(viz::make_panel("kv")->csv(scene));
  CHECK(lines[0] == "slot,state,node,moved_from,reused,expected");
  const std::string slot = std::to_string(slots().inputs(3)[3].slot);
  const auto line = std::ranges::find_if(
      lines, [&](const std::string& one) { return one.starts_with(slot + ","); });
  REQUIRE(line != lines.end());
  CHECK(line->ends_with("," + std::to_string(made.of_step[2].root)));
  CHECK(says(drawn(*viz::make_panel("kv"), after(slots(), 4), kArea),
             "as the tree asks in this step; not so in 2 steps, first at step 3"));
}

TEST_CASE("faults: the inspector and the candidates say what is wrong with a node's row") {
  viz::Scene scene = after(masked(), 3);
  const StepNodes at = masked_wrongly().of_step[3];
  scene.focus.locked = at.c;
  const std::string csv = viz::make_panel("inspector")->csv(scene);
  CHECK(csv.find("not as the tree asks,\"sees draft ") != std::string::npos);
  scene.focus.locked = at.b;
  CHECK(says(drawn(*viz::make_panel("candidates"), scene, kArea), "its row does not see "));
  scene.focus.locked = at.a;
  CHECK(viz::make_panel("inspector")->csv(scene).find("not as the tree asks") == std::string::npos);
}

// The panels that mark nodes draw the mark of a faulty row, name it and tell it in the node's tooltip.
TEST_CASE("faults: trie, drafts and text mark nodes whose rows are not as the tree asks") {
  const StepNodes at = masked_wrongly().of_step[3];
  for (const char* name : {"trie", "drafts"}) {
    CAPTURE(name);
    const viz::Scene seen = after(masked(), 3);
    CHECK(marks(*viz::make_panel(name), seen) > 0);
    CHECK(marks(*viz::make_panel(name), after(masked(), 2)) == 0);
    const std::string text = tips(name, seen, kArea);
    CHECK(text.find("▲ sees draft " + viz::node_text(seen, at.a) + " (its sibling); the tree") !=
          std::string::npos);
    CHECK(text.find("△ does not see " + viz::node_text(seen, at.root) + " (its own ancestor)") !=
          std::string::npos);
  }
  const auto trie = drawn(*viz::make_panel("trie"), after(masked(), 3), kArea);
  CHECK(find(trie, "not as the tree asks"));
  CHECK(find(trie, "asked for, not seen"));
  CHECK_FALSE(
      find(drawn(*viz::make_panel("trie"), after(masked(), 2), kArea), "asked for, not seen"));
}

TEST_CASE("faults: the text marks the tokens whose rows stood elsewhere, and no others") {
  const viz::Scene scene = after(shifted(), 3);
  const auto path = shifted().path_to(viz::sequences_of(scene).front().node);
  std::size_t wrong = 0;
  for (const std::int32_t node : path)
    wrong += viz::fault_mark(scene, node) == capture::RowMark::kRecorded;
  REQUIRE(wrong > 0);
  REQUIRE(wrong < path.size());
  RecordingCanvas canvas;
  std::size_t marked = 0;
  for (const viz::TextSpan& span : viz::lay_out_text(canvas, 900, scene).spans)
    if (span.fault != capture::RowMark::kNone) {
      ++marked;
      CHECK(viz::fault_mark(scene, span.node) == span.fault);
    }
  CHECK(marked == wrong);
  CHECK(find(drawn(*viz::make_panel("text"), scene, kArea), "not as the tree asks"));
  CHECK(tips("text", scene, kArea).find("▲ stands at position ") != std::string::npos);
}

TEST_CASE("faults: a run whose rows are as asked has none of it") {
  static const auto opened = make_capture([](Recorder& out) { out.write(made_drafts().rows); });
  const viz::Scene scene = after(*opened->capture, 3);
  for (const char* name :
       {"mask", "positions", "kv", "inspector", "candidates", "trie", "drafts", "text"}) {
    CAPTURE(name);
    const auto panel = viz::make_panel(name);
    CHECK_FALSE(says(drawn(*panel, scene, kArea), "tree asks"));
    CHECK(panel->csv(scene).find("tree asks") == std::string::npos);
  }
  CHECK(lines_of(viz::make_panel("kv")->csv(scene))[0] == "slot,state,node,moved_from,reused");
  // The recorder says what its rows saw, so the table does.
  for (const std::string& line : lines_of(viz::mask_csv(viz::RowSource{}, scene, false))) {
    const auto last = line.rfind(','), before = line.rfind(',', last - 1);
    if (!line.ends_with("expected"))
      CHECK(line.substr(before + 1, last - before - 1) == line.substr(last + 1));
  }
}

TEST_CASE("faults: rows that claim everything are drawn, in any size") {
  static const auto opened = make_capture([](Recorder& out) {
    MadeRun made = masked_wrongly();
    for (SeenRow& seen : made.rows.seen)
      if (seen.step >= 2) seen.slots = {0, 4'000'000};
    for (InputRow& row : made.rows.inputs) {
      if (row.step == 4 && row.row == 2) row.node = 0, row.slot = -1;
      if (row.step == 5 && row.row == 1) row.slot = 4'000'000;
      if (row.step == 3 && row.row == 0) row.node = -2;
    }
    out.write(made.rows);
  });
  for (const char* name :
       {"mask", "positions", "inspector", "candidates", "narration", "trie", "drafts", "text"})
    for (std::int32_t step = 0; step < 6; ++step)
      for (const viz::Rect area : {viz::Rect{0, 0, 900, 420}, viz::Rect{0, 0, 90, 40}})
        for (const bool steady : {false, true}) {
          viz::Scene scene = after(*opened->capture, step);
          scene.steady = scene.series = steady;
          scene.focus.locked = -2;
          const auto panel = viz::make_panel(name);
          drawn(*panel, scene, area);
          for (float x = 0; x < area.w; x += 13)
            panel->input(mouse_at({x, area.h / 2}), area, scene);
          CHECK_FALSE(panel->csv(scene).empty());
        }
}

}  // namespace
}  // namespace triescope::test::test_faults_drawn
