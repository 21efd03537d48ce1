// The narration panel: its drawing, and where its links lead.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"

namespace triescope::viz::test_narration_panel {
namespace {

using capture::make_tick;
using capture::Phase;
using test::beam_capture;
using test::drawn;
using test::find;
using test::mouse_at;
using test::mouse_over;
using test::scene_at;

constexpr Rect kArea{10, 20, 700, 260};

Scene scene_after(int step, Phase phase) {
  return scene_at(beam_capture(), make_tick(step, phase) + 1);
}

// The reaction to a click on the first piece of text equal to `text`.
Reaction clicked(const Scene& scene, const std::string& text) {
  const auto panel = make_panel("narration");
  const auto canvas = drawn(*panel, scene, kArea);
  const auto* piece = find(canvas, text);
  REQUIRE(piece);
  Input in = mouse_over(*piece);
  in.clicked = true;
  return panel->input(in, kArea, scene);
}

TEST_CASE("narration panel: the heading, what comes next, and every word of every sentence") {
  const Scene scene = scene_after(3, Phase::kAccept);
  const auto canvas = drawn(*make_panel("narration"), scene, kArea);
  CHECK(find(canvas, "Step 3, accept"));
  CHECK(find(canvas, "next: commit"));
  std::string shown;
  for (std::size_t i = 2; i < canvas.texts.size(); ++i) shown += canvas.texts[i].text;
  std::string told;
  for (const Sentence& sentence :
       narrate(beam_capture(), scene.cursor, Sentences::standard()).sentences)
    for (const char c : sentence_text(sentence))
      if (c != ' ') told += c;
  CHECK(shown == told);
  const Scene over = scene_at(beam_capture(), beam_capture().end_tick());
  for (const auto& text : drawn(*make_panel("narration"), over, kArea).texts)
    CHECK_FALSE(text.text.starts_with("next:"));
  CHECK(find(drawn(*make_panel("narration"), scene_at(beam_capture(), 0), kArea),
             "Before the first step"));
}

TEST_CASE(
    "narration panel: a token locks its node, a count opens its panel, a step moves the cursor") {
  const Scene scene = scene_after(3, Phase::kAccept);
  const auto frontier = beam_capture().frontier(3);
  const Narration narration = narrate(beam_capture(), scene.cursor, Sentences::standard());
  const Part* token = nullptr;
  for (const Part& part : narration.sentences[1].parts)
    if (!token && part.is_token) token = &part;
  REQUIRE(token);
  CHECK(token->target.node == frontier[0].node);
  const Reaction on_token = clicked(scene, token->text);
  CHECK(on_token.hover == frontier[0].node);
  CHECK(on_token.lock == frontier[0].node);
  CHECK(on_token.panel.empty());
  CHECK(on_token.tooltip.size() >= 2);

  const Reaction on_count = clicked(scene, "49,152");
  CHECK(on_count.panel == "candidates");
  CHECK(on_count.hover == -1);
  CHECK_FALSE(on_count.lock);
  CHECK(on_count.tooltip == std::vector<std::string>{"click to see it in the panel candidates"});

  const Reaction on_step = clicked(scene_after(3, Phase::kObserve), "3");
  CHECK(on_step.cursor == make_tick(3, Phase::kObserve) + 1);
  CHECK(on_step.tooltip == std::vector<std::string>{"step 3: click to go there"});

  const Scene forward = scene_after(3, Phase::kForward);
  const auto first = beam_capture().inputs(3).front();
  const Reaction on_slot = clicked(forward, std::to_string(first.slot));
  CHECK(on_slot.lock == first.node);
  CHECK(on_slot.tooltip.front() == "slot " + std::to_string(first.slot));
}

TEST_CASE("narration panel: words between links ask for nothing") {
  const Scene scene = scene_after(3, Phase::kAccept);
  const Reaction reaction = clicked(scene, "compete");
  CHECK(reaction.hover == -1);
  CHECK_FALSE(reaction.lock);
  CHECK_FALSE(reaction.cursor);
  CHECK(reaction.panel.empty());
  CHECK(reaction.tooltip.empty());
}

TEST_CASE("narration panel: lines are as wide as the pane, and what is below is scrolled to") {
  const Rect narrow{0, 0, 260, 90};
  const Scene scene = scene_after(3, Phase::kAccept);
  const auto panel = make_panel("narration");
  const auto canvas = drawn(*panel, scene, narrow);
  for (const auto& text : canvas.texts) CHECK(text.box.right() <= narrow.right());
  CHECK(find(drawn(*make_panel("narration"), scene, {0, 0, 500, 90}),
             "next: commit  ·  scroll for more"));
  CHECK(find(drawn(*make_panel("narration"), scene, kArea), "next: commit"));
  const float before = canvas.texts[2].box.y;
  Input wheel = mouse_at({100, 60});
  wheel.wheel = -1;
  panel->input(wheel, narrow, scene);
  std::string first;
  for (const auto& text : drawn(*panel, scene, narrow).texts)
    if (first.empty() && text.text == canvas.texts[5].text) {
      first = text.text;
      CHECK(text.box.y == doctest::Approx(canvas.texts[5].box.y - 14 * 3));
    }
  CHECK(before < narrow.bottom());
  wheel.wheel = -1000;
  panel->input(wheel, narrow, scene);
  const auto end = drawn(*panel, scene, narrow);
  CHECK(find(end, "next: commit"));
  CHECK(end.texts.back().box.bottom() <= narrow.bottom());
  CHECK(end.texts.back().text == drawn(*make_panel("narration"), scene, kArea).texts.back().text);
}

TEST_CASE("narration panel: the focused node is lit in its sentences") {
  Scene scene = scene_after(3, Phase::kAccept);
  const auto plain = drawn(*make_panel("narration"), scene, kArea);
  scene.focus.locked = beam_capture().frontier(3)[0].node;
  const auto lit = drawn(*make_panel("narration"), scene, kArea);
  CHECK(lit.calls.size() > plain.calls.size());
  CHECK(lit.texts.size() == plain.texts.size());
}

TEST_CASE("narration panel: the CSV has every part with its value, number and link") {
  const Scene scene = scene_after(3, Phase::kObserve);
  const std::string csv = make_panel("narration")->csv(scene);
  CHECK(
      csv.starts_with("step,phase,sentence,text,value,number,target\n"
                      "3,observe,1,Step ,,,\n"
                      "3,observe,1,3,step,3,step/3/observe\n"));
}

TEST_CASE(
    "narration panel: a line is drawn whole or not at all, and a figure says how many it lacks") {
  Scene scene = scene_after(3, Phase::kAccept);
  for (float height = 60; height < 260; height += 7) {
    CAPTURE(height);
    for (const bool figure : {false, true}) {
      scene.export_mode = figure;
      const auto panel = make_panel("narration");
      const Rect area{10, 20, 400, height};
      const auto canvas = drawn(*panel, scene, area);
      for (const auto& text : canvas.texts) CHECK(text.visible.h >= text.box.h - 0.5f);
      const bool says = std::ranges::any_of(
          canvas.texts, [](const auto& text) { return text.text.find("+ ") != std::string::npos; });
      const auto whole = drawn(*make_panel("narration"), scene, {10, 20, 400, 2000});
      CHECK(says == (figure && canvas.texts.size() < whole.texts.size()));
      if (height < 80) CHECK(canvas.texts.size() < whole.texts.size());
    }
  }
}

}  // namespace
}  // namespace triescope::viz::test_narration_panel
