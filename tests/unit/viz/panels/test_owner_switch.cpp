// A panel shows the target's rows, or a draft model's.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/two_owners.h"
#include "viz/draw/node_text.h"
#include "viz/export/export.h"
#include "viz/panels/kv_range.h"
#include "viz/panels/kv_slots.h"
#include "viz/panels/mask_rows.h"
#include "viz/panels/owner_switch.h"

namespace triescope::viz::test_owner_switch {
namespace {

using capture::Phase;
using capture::Whose;
using test::drawn;
using test::find;
using test::mouse_at;
using test::mouse_over;
using test::RecordingCanvas;
using test::scene_at;
using test::two_owner_capture;

constexpr RowSource kTarget{Whose::kTarget}, kDraft{Whose::kDraft};
constexpr Rect kArea{0, 0, 700, 320};
const std::vector<std::string> kPanels = {"kv", "memory", "mask", "positions", "candidates"};

// The run with a draft model, after step 1.
Scene after_step_1() { return scene_at(two_owner_capture(), capture::make_tick(2, Phase::kDraft)); }

// The y of lines that cross the whole picture, from its labels on.
std::vector<float> across(const RecordingCanvas& canvas) {
  std::vector<float> found;
  for (const std::string& call : canvas.calls) {
    std::istringstream words(call);
    std::string name;
    float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    if (words >> name >> x0 >> y0 >> x1 >> y1; name == "line" && y0 == y1 && x0 < 20 && x1 > 200)
      found.push_back(y0);
  }
  return found;
}

// The reaction to the mouse over the text.
Reaction over(Panel& panel, const Scene& scene, const std::string& text, bool clicked = false,
              Rect area = kArea) {
  const RecordingCanvas canvas = drawn(panel, scene, area);
  const auto* const found = find(canvas, text);
  REQUIRE_MESSAGE(found, text);
  Input in = mouse_over(*found);
  in.clicked = clicked;
  return panel.input(in, area, scene);
}
std::unique_ptr<Panel> of_draft(const std::string& name) {
  auto panel = make_panel(name);
  panel->set_view_state("whose=draft");
  return panel;
}

TEST_CASE("owner switch: the help of the panels that have one mentions it") {
  for (const auto& panel : make_panels()) {
    const std::string& name = panel->info().name;
    CAPTURE(name);
    const bool has_switch = std::ranges::find(kPanels, name) != kPanels.end();
    CHECK(panel->info().help.ends_with(OwnerSwitch::kHelp) == has_switch);
  }
}

TEST_CASE("owner switch: a capture of one model has none, and shows the target's rows") {
  const capture::Capture& run = test::draft_capture();
  const Scene scene = scene_at(run, capture::make_tick(6, Phase::kDraft));
  for (const std::string& name : kPanels) {
    CAPTURE(name);
    const auto plain = make_panel(name), chosen = of_draft(name);
    const RecordingCanvas canvas = drawn(*plain, scene, kArea);
    CHECK_FALSE(find(canvas, "draft model"));
    CHECK_FALSE(find(canvas, "draft"));
    CHECK(drawn(*chosen, scene, kArea).calls == canvas.calls);
    CHECK(chosen->csv(scene) == plain->csv(scene));
    CHECK(chosen->whose(scene) == "");
  }
  CHECK(make_panel("trie")->whose(after_step_1()) == "");
}

TEST_CASE("owner switch: a click shows the other model's rows, and again the target's") {
  const Scene scene = after_step_1();
  for (const std::string& name : kPanels) {
    CAPTURE(name);
    const auto panel = make_panel(name);
    const std::string state = panel->view_state();
    const std::string target = panel->csv(scene);
    CHECK(panel->whose(scene) == "target");
    CHECK(over(*panel, scene, "draft model").tooltip ==
          std::vector<std::string>{"show the draft model's rows"});
    CHECK(over(*panel, scene, "target").tooltip ==
          std::vector<std::string>{"shown: the target's rows"});
    CHECK(panel->csv(scene) == target);  // looked at, not clicked
    const Reaction reaction = over(*panel, scene, "draft model", true);
    CHECK_FALSE(reaction.hover);
    CHECK_FALSE(reaction.lock);
    CHECK_FALSE(reaction.cursor);
    CHECK(panel->whose(scene) == "draft model");
    CHECK(panel->csv(scene) != target);
    CHECK(panel->csv(scene) == of_draft(name)->csv(scene));
    CHECK(over(*panel, scene, "draft model").tooltip ==
          std::vector<std::string>{"shown: the draft model's rows"});
    over(*panel, scene, "target", true);
    CHECK(panel->csv(scene) == target);
    CHECK(panel->view_state() == (state.empty() ? "whose=target" : state + ";whose=target"));
  }
}

TEST_CASE(
    "owner switch: full stop shows the next model's rows, comma the ones before, without a mouse") {
  const Scene scene = after_step_1();
  for (const std::string& name : kPanels) {
    CAPTURE(name);
    const auto panel = make_panel(name);
    const Rect area{0, 0, 900, 600};
    test::drawn(*panel, scene, area);
    const std::string target = panel->csv(scene);
    Input key;
    key.next = true;
    panel->input(key, area, scene);
    CHECK(panel->whose(scene) == "draft model");
    CHECK(panel->csv(scene) == of_draft(name)->csv(scene));
    panel->input(key, area, scene);
    CHECK(panel->csv(scene) == target);
    key.next = false;
    key.previous = true;
    panel->input(key, area, scene);
    CHECK(panel->whose(scene) == "draft model");
  }
}

TEST_CASE("owner switch: the key that folds presses the button of mask and memory") {
  const Scene scene = after_step_1();
  Input key;
  key.fold = true;
  const auto mask = make_panel("mask"), memory = make_panel("memory");
  const std::string order = mask->view_state(), lines = memory->view_state();
  mask->input(key, {0, 0, 900, 600}, scene);
  memory->input(key, {0, 0, 900, 600}, scene);
  CHECK(mask->view_state() == "order=slot");
  CHECK(memory->view_state() == "stacked");
  mask->input(key, {0, 0, 900, 600}, scene);
  memory->input(key, {0, 0, 900, 600}, scene);
  CHECK(mask->view_state() == order);
  CHECK(memory->view_state() == lines);
}

TEST_CASE("owner switch: remembered with the panel's own view state") {
  const auto mask = make_panel("mask");
  mask->set_view_state("order=slot;whose=draft");
  CHECK(mask->view_state() == "order=slot;whose=draft");
  mask->set_view_state("order=slot");
  CHECK(mask->view_state() == "order=slot");
  const auto memory = make_panel("memory");
  memory->set_view_state("stacked;whose=draft;hidden=reserved,greedy");
  CHECK(memory->view_state() == "stacked;whose=draft;hidden=reserved,greedy");
  CHECK(memory->whose(after_step_1()) == "draft model");
  for (const char* name : {"kv", "positions", "candidates"}) {
    const auto panel = make_panel(name);
    CHECK(panel->view_state() == "");
    panel->set_view_state("whose=draft");
    CHECK(panel->view_state() == "whose=draft");
    panel->set_view_state("whose=nobody");
    CHECK(panel->view_state() == "");
  }
}

TEST_CASE("owner switch: a chosen model that a capture does not hold leaves the target's rows") {
  OwnerSwitch owner;
  owner.set_state("whose=head");
  CHECK(owner.source(after_step_1()) == kTarget);
  CHECK(owner.name(after_step_1()) == "target");
  owner.set_state("whose=draft");
  CHECK(owner.source(after_step_1()) == kDraft);
  CHECK(owner.source(Scene{}) == kTarget);
  CHECK(std::string(owner_name(Whose::kTarget)) == "target");
  CHECK(std::string(owner_name(Whose::kDraft)) == "draft model");
  CHECK(std::string(owner_name(Whose::kHead)) == "draft head");
}

TEST_CASE("owner switch: it says it shorter where there is little room, and stays inside") {
  const Scene scene = after_step_1();
  const Rect narrow{5, 7, 260, 200};
  for (const std::string& name : kPanels) {
    CAPTURE(name);
    const auto panel = make_panel(name);
    const RecordingCanvas canvas = drawn(*panel, scene, narrow);
    REQUIRE(find(canvas, "draft"));
    CHECK_FALSE(find(canvas, "draft model"));
    CHECK(find(canvas, "draft")->box.right() <= narrow.right());
    CHECK(find(canvas, "target")->box.x >= narrow.x);
    over(*panel, scene, "draft", true, narrow);
    CHECK(panel->whose(scene) == "draft model");
  }
}

TEST_CASE("owner switch: kv slots are of the cache shown") {
  const Scene scene = after_step_1();
  CHECK(kv_csv(kTarget, scene) ==
        "slot,state,node,moved_from,reused\n0,live,prompt 0,,0\n1,live,prompt 1,,0\n"
        "2,live,prompt 2,,0\n3,live,1,,0\n4,live,2,,0\n5,free,,,0\n6,live,4,,0\n");
  CHECK(kv_csv(kDraft, scene) ==
        "slot,state,node,moved_from,reused\n0,live,prompt 0,,0\n1,live,prompt 1,,0\n"
        "2,live,prompt 2,,0\n3,live,1,,0\n4,live,2,,0\n5,live,3,,0\n");
  const KvSlots held = slots_at(kDraft, *scene.capture, scene.cursor);
  CHECK(held.live == 6);
  CHECK(held.prompt == 3);
  CHECK(held.used == 6);
  CHECK(held.reserved == 1);  // 7, of the draft model's own samples
  const Scene later = scene_at(two_owner_capture(), capture::make_tick(2, Phase::kForward));
  CHECK(slots_at(kDraft, *later.capture, later.cursor).reused == 1);
  CHECK(slots_at(kTarget, *later.capture, later.cursor).reused == 0);
}

TEST_CASE("owner switch: a slot of the draft model's is its node's everywhere") {
  const Scene scene = after_step_1();
  const auto panel = of_draft("kv");
  const Reaction reaction = over(*panel, scene, "5", true);  // the number of the slot
  CHECK(reaction.hover == 3);
  CHECK(reaction.lock == 3);
  REQUIRE(reaction.tooltip.size() == 3);
  CHECK(reaction.tooltip[0] == "slot 5 of the draft model's cache, live");
  CHECK(reaction.tooltip[1] == node_summary(scene, 3, Whose::kDraft));
  CHECK(reaction.tooltip[2] == "one slot = K and V of one position in every layer = 512 B");
  // The target's cache has freed node 3's slot.
  CHECK(node_summary(scene, 3) == "node 3  ·a  position 4");
}

TEST_CASE("owner switch: steps' events are counted of the cache shown") {
  Scene scene = scene_at(two_owner_capture(), two_owner_capture().end_tick());
  scene.range = {{1, 2}};
  KvRange range;
  range.update(kTarget, scene);
  RecordingCanvas canvas;
  const TextStyle style{FontFace::kUi, 12, {}};
  CHECK(range.text(canvas, style, 1000) == "steps 1–2: 4 written · 1 freed · at most 6 held");
  CHECK(range.writes(5) == 1);
  range.update(kDraft, scene);
  CHECK(range.text(canvas, style, 1000) ==
        "steps 1–2: 7 written (1 reused) · 1 freed · at most 5 held");
  CHECK(range.writes(5) == 2);
}

TEST_CASE("owner switch: the mask shows every forward of the draft model's step") {
  const Scene scene = after_step_1();
  MaskRows mask;
  REQUIRE(mask.update(kTarget, scene, false));
  CHECK(mask.columns == std::vector<std::int32_t>{1, 2, 4, 3});
  REQUIRE(mask.update(kDraft, scene, false));  // same cursor, another owner: gathered again
  std::vector<std::pair<int, int>> rows;
  for (const capture::InputRow& row : mask.rows) rows.emplace_back(row.forward, row.node);
  CHECK(rows == std::vector<std::pair<int, int>>{{0, 1}, {1, 2}, {1, 3}});
  CHECK(mask.columns == std::vector<std::int32_t>{1, 2, 3});
  CHECK(mask_csv(kDraft, scene, false) ==
        "step,forward,row,node,position,slot,sees_prompt,visible_nodes\n1,0,3,1,3,3,1,1\n"
        "1,1,0,2,4,4,1,1 2\n1,1,1,3,4,5,1,1 3\n");
  CHECK(mask_csv(kTarget, scene, false) ==
        "step,row,node,position,slot,sees_prompt,visible_nodes\n1,0,1,3,3,1,1\n"
        "1,1,2,4,4,1,1 2\n1,2,3,4,5,1,1 3\n1,3,4,5,6,1,1 2 4\n");
  // The draft model reads while drafting, so its rows are there once that phase is done.
  MaskRows early;
  const Scene drafted = scene_at(two_owner_capture(), capture::make_tick(1, Phase::kForward));
  CHECK(early.update(kDraft, drafted, false));
  CHECK_FALSE(early.update(kTarget, drafted, false));
}

TEST_CASE("owner switch: a line parts the forwards of a step, and a row names its forward") {
  const Scene scene = after_step_1();
  const auto target = make_panel("mask"), draft = of_draft("mask");
  const RecordingCanvas canvas = drawn(*draft, scene, kArea);
  CHECK(across(drawn(*target, scene, kArea)).empty());
  const auto parted = across(canvas);
  REQUIRE(parted.size() == 1);
  // Row labels are at the left, tokens above columns at the right.
  std::vector<Reaction> at_rows;
  for (const auto& text : canvas.texts) {
    if (text.box.x > 130) continue;
    if (text.text == node_text(scene, 3, 14))
      at_rows.push_back(draft->input(mouse_at({text.box.x + 1, text.box.y + 1}), kArea, scene));
    if (text.text == node_text(scene, 1, 14)) CHECK(text.box.bottom() < parted[0]);
    if (text.text == node_text(scene, 2, 14)) CHECK(text.box.y > parted[0]);
  }
  REQUIRE(at_rows.size() == 1);
  CHECK(at_rows[0].tooltip.front() == "forward 1, row 1: " + node_summary(scene, 3, Whose::kDraft));
  CHECK(node_summary(scene, 3, Whose::kDraft) == "node 3  ·a  position 4  slot 5");
  CHECK(at_rows[0].hover == 3);
}

TEST_CASE("owner switch: positions and best tokens are the draft model's own") {
  const Scene scene = after_step_1();
  CHECK(of_draft("positions")->csv(scene) ==
        "step,forward,row,node,position,sequential_id\n1,0,3,1,3,3\n1,1,0,2,4,4\n1,1,1,3,4,5\n");
  CHECK(make_panel("positions")->csv(scene) ==
        "step,row,node,position,sequential_id\n1,0,1,3,3\n1,1,2,4,4\n1,2,3,4,5\n1,3,4,5,6\n");
  Scene focused = scene;
  focused.focus.locked = 1;
  const std::string target = make_panel("candidates")->csv(focused),
                    draft = of_draft("candidates")->csv(focused);
  CHECK(std::count(target.begin(), target.end(), '\n') == 2);
  CHECK(std::count(draft.begin(), draft.end(), '\n') == 3);
  CHECK(target.find("\n1,0,6,\",\",") != std::string::npos);
  CHECK(target.find(",0.75,1\n") != std::string::npos);
  CHECK(draft.find(",0.5,1\n") != std::string::npos);
  CHECK(draft.find(",0.25,1\n") != std::string::npos);
}

TEST_CASE("owner switch: memory is the draft model's, at its own bytes per token") {
  const Scene scene = after_step_1();
  CHECK(kDraft.kv_bytes_per_token(*scene.capture) == 512);
  CHECK(kTarget.kv_bytes_per_token(*scene.capture) == 2048);
  CHECK(kDraft.kv_bytes_per_token(test::beam_capture()) == 0);  // it names none
  const std::string header =
      "step,live_tokens,garbage_tokens,reserved_tokens,greedy_tokens,batch_beam_tokens,"
      "moved_bytes,kv_bytes_per_token,device_allocated_bytes,device_reserved_bytes,"
      "peak_held_tokens\n";
  CHECK(of_draft("memory")->csv(scene) ==
        header + "0,0,0,7,3,3,0,512,-1,-1,0\n1,5,0,7,6,6,0,512,-1,-1,6\n");
  CHECK(make_panel("memory")->csv(scene) ==
        header + "0,3,0,8,3,3,0,2048,-1,-1,3\n1,6,0,8,6,6,0,2048,-1,-1,7\n");
  const auto panel = of_draft("memory");
  CHECK(find(drawn(*panel, scene, kArea), "live 5"));
  const Reaction reaction = panel->input(mouse_at({550, 150}), kArea, scene);
  REQUIRE(reaction.tooltip.size() >= 2);
  CHECK(reaction.tooltip[0] == "step 1");
  CHECK(reaction.tooltip[1] == "live 5 tokens × 512 B = 2.56 KB");
}

TEST_CASE("owner switch: an empty panel says that the draft model has not run, or not now") {
  const Scene before = scene_at(two_owner_capture(), capture::make_tick(1, Phase::kDraft));
  CHECK(no_rows_text(kDraft, before) == "The draft model has run no forward yet: step on (F10).");
  CHECK(no_rows_text(kDraft, after_step_1()) == "The draft model ran no forward in this step.");
  CHECK(no_rows_text(kDraft, scene_at(two_owner_capture(), 1000)) ==
        "The draft model ran no forward in this step.");
  const std::pair<const char*, const char*> empty[] = {
      {"kv", "The draft model holds no KV yet: step on (F10)."},
      {"mask", "The draft model has run no forward yet: step on (F10)."},
      {"positions", "The draft model has run no forward yet: step on (F10)."},
      {"candidates", "No output row of the draft model yet: step on (F10)."}};
  for (const auto& [name, text] : empty) {
    CAPTURE(name);
    const auto panel = of_draft(name);
    const RecordingCanvas canvas = drawn(*panel, before, kArea);
    CHECK(find(canvas, text));
    over(*panel, before, "target", true);  // the way back stays
    CHECK(panel->whose(before) == "target");
  }
}

TEST_CASE("owner switch: an export says whose rows it shows, where there is a choice") {
  const test::TempDir dir;
  const std::string out = dir.path() / "out";
  const auto exported = [&](const capture::Capture& run, const std::string& state,
                            ExportFormat format) {
    ExportOptions options;
    options.format = format;
    options.step = 1;
    options.view_state = state;
    export_panel(run, "kv", out, options);
    return test::read_file(out);
  };
  const capture::Capture& run = two_owner_capture();
  CHECK(exported(run, "whose=draft", ExportFormat::kCsv).find("# Rows of: the draft model\n") !=
        std::string::npos);
  CHECK(exported(run, "", ExportFormat::kCsv).find("# Rows of: the target\n") != std::string::npos);
  CHECK(exported(run, "whose=draft", ExportFormat::kCsv).find("\n5,live,3,,0\n") !=
        std::string::npos);
  CHECK(exported(test::draft_capture(), "whose=draft", ExportFormat::kCsv).find("Rows of") ==
        std::string::npos);
  const std::string svg = exported(run, "whose=draft", ExportFormat::kSvg);
  CHECK(svg.find("Rows of: the draft model") != std::string::npos);
}

}  // namespace
}  // namespace triescope::viz::test_owner_switch
