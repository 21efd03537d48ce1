#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/recording_canvas.h"
#include "tests/unit/viz/two_owners.h"
#include "tests/unit/viz/wandering_input.h"
#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/panels/panel.h"
#include "viz/text/glossary.h"

namespace test_panels {

using namespace triescope;
using namespace triescope::viz;
using triescope::test::beam_capture;
using triescope::test::draft_capture;
using triescope::test::RecordingCanvas;
using triescope::test::two_owner_capture;

namespace {

Scene scene_at(const capture::Capture* capture, capture::Tick cursor, float em = 14,
               bool dark = true) {
  Scene scene;
  scene.capture = capture;
  scene.cursor = cursor;
  scene.em = em;
  scene.theme = dark ? dark_theme() : light_theme();
  scene.animate = false;
  return scene;
}

Scene last_scene(const capture::Capture& capture, float em = 14) {
  return scene_at(&capture, capture.end_tick(), em);
}

RecordingCanvas drawn(Panel& panel, Rect area, const Scene& scene) {
  RecordingCanvas canvas;
  canvas.push_clip(area);
  panel.draw(canvas, area, scene);
  canvas.pop_clip();
  REQUIRE(canvas.open_clips() == 0);
  return canvas;
}

std::vector<capture::Tick> ticks_of(const capture::Capture& capture) {
  std::vector<capture::Tick> ticks = {0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 37, 41, 42, 43, 44, 45};
  ticks.push_back(capture.end_tick() / 2);
  ticks.push_back(capture.end_tick());
  return ticks;
}

// Every panel; for a run with a draft model, also set to that model's rows.
std::vector<std::unique_ptr<Panel>> panels_of(const capture::Capture& capture) {
  auto panels = make_panels();
  if (capture.owners().size() > 1)
    for (auto& panel : make_panels()) {
      if (panel->whose(last_scene(capture)).empty()) continue;
      panel->set_view_state("whose=draft");
      panels.push_back(std::move(panel));
    }
  return panels;
}

constexpr std::array<Rect, 4> kAreas = {Rect{7, 5, 1000, 600}, Rect{0, 0, 280, 160},
                                        Rect{3, 3, 560, 320}, Rect{0, 0, 1280, 90}};

TEST_CASE("panels: the names of the panels are those of the panels, in their order") {
  std::vector<std::string> names;
  for (const auto& panel : make_panels()) names.push_back(panel->info().name);
  CHECK(panel_names() == names);
  CHECK(panel_names().front() == "trie");
  CHECK(panel_names().size() == 19);
  for (const std::string& name : names) CHECK(make_panel(name)->info().name == name);
}

TEST_CASE("panels: no panel writes smaller than 11 px at scale 1") {
  for (const capture::Capture* capture : {&test::beam_capture(), &test::draft_capture()})
    for (const auto& panel : make_panels())
      for (const Rect area : kAreas) {
        // (A trie zoomed far out has letters that belong to its picture and need not be read.)
        Scene scene;
        scene.capture = capture;
        scene.cursor = capture->end_tick();
        scene.theme = dark_theme();
        scene.em = 15;  // the window's, at scale 1
        scene.animate = false;
        test::RecordingCanvas canvas;
        panel->draw(canvas, area, scene);
        for (const auto& text : canvas.texts) {
          CAPTURE(panel->info().name);
          CAPTURE(text.text);
          CHECK(text.size >= 11);
        }
      }
}

// Parses a CSV table by RFC 4180; fails on anything malformed.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::size_t i = 0;
  while (i < text.size()) {
    rows.emplace_back();
    for (bool more = true; more;) {
      std::string field;
      if (i < text.size() && text[i] == '"') {
        for (++i;; ++i) {
          REQUIRE(i < text.size());
          if (text[i] != '"') {
            field += text[i];
          } else if (i + 1 < text.size() && text[i + 1] == '"') {
            field += text[++i];
          } else {
            ++i;
            break;
          }
        }
        REQUIRE((i == text.size() || text[i] == ',' || text[i] == '\n'));
      } else {
        while (i < text.size() && text[i] != ',' && text[i] != '\n') {
          REQUIRE(text[i] != '"');
          field += text[i++];
        }
      }
      rows.back().push_back(field);
      more = i < text.size() && text[i] == ',';
      if (i < text.size()) ++i;
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("panels: they are the promised ones, in order, and can be made by name") {
  std::string names;
  for (const auto& panel : make_panels()) {
    names += panel->info().name + " ";
    CHECK_FALSE(panel->info().title.empty());
    CHECK_FALSE(panel->info().help.empty());
    CHECK(panel->info().to_try.ends_with("."));
    CHECK_FALSE(panel->info().empty.empty());
    CHECK(make_panel(panel->info().name)->info().name == panel->info().name);
  }
  CHECK(
      names ==
      "trie mask positions kv memory verdict drafts acceptance-by what-if cost candidates experts text narration inspector "
      "summary timeline log doctor ");
  CHECK_THROWS_AS(make_panel("pie"), Error);
}

TEST_CASE("panels: without a capture every panel says what to do") {
  for (const auto& panel : make_panels()) {
    CAPTURE(panel->info().name);
    const RecordingCanvas canvas = drawn(*panel, {0, 0, 300, 200}, scene_at(nullptr, 0));
    CHECK_FALSE(canvas.texts.empty());
    Input input;
    input.inside = true;
    input.clicked = true;
    input.mouse = {50, 50};
    panel->input(input, {0, 0, 300, 200}, scene_at(nullptr, 0));
    CHECK(parse_csv(panel->csv(scene_at(nullptr, 0))).size() == 1);
  }
}

TEST_CASE("panels: a picture stays in its area, whatever its size") {
  for (const capture::Capture* capture :
       {&beam_capture(), &draft_capture(), &two_owner_capture()}) {
    for (const auto& panel : panels_of(*capture)) {
      for (const Rect area : kAreas) {
        for (const float em : {13.0f, 26.0f}) {
          for (const capture::Tick tick : {capture::Tick{7}, capture->end_tick()}) {
            CAPTURE(panel->info().name);
            CAPTURE(area.w);
            CAPTURE(em);
            CAPTURE(tick);
            const RecordingCanvas canvas = drawn(*panel, area, scene_at(capture, tick, em));
            CHECK(canvas.shapes > 0);
            CHECK(canvas.ink.x >= area.x - 0.5f);
            CHECK(canvas.ink.y >= area.y - 0.5f);
            CHECK(canvas.ink.right() <= area.right() + 0.5f);
            CHECK(canvas.ink.bottom() <= area.bottom() + 0.5f);
          }
        }
      }
    }
  }
}

TEST_CASE("panels: no text lies on another text") {
  for (const capture::Capture* capture :
       {&beam_capture(), &draft_capture(), &two_owner_capture()}) {
    for (const auto& panel : panels_of(*capture)) {
      for (const Rect area : kAreas) {
        for (const float em : {13.0f, 26.0f}) {
          // The smallest readable pane: 280 x 160 px with text of 13 px, 560 x 320 with 26.
          if (area.w < em * 21 || area.h < em * 6.5f) continue;
          CAPTURE(panel->info().name);
          CAPTURE(area.w);
          CAPTURE(em);
          const RecordingCanvas canvas =
              drawn(*panel, area, scene_at(capture, capture->end_tick(), em));
          const auto& texts = canvas.texts;
          for (std::size_t i = 0; i < texts.size(); ++i) {
            for (std::size_t k = i + 1; k < texts.size(); ++k) {
              const Rect a = texts[i].visible, b = texts[k].visible;
              const float w = std::min(a.right(), b.right()) - std::max(a.x, b.x);
              const float h = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
              // Line boxes may touch, because letters do not fill them.
              const float slack = 0.3f * std::min(texts[i].size, texts[k].size);
              CAPTURE(texts[i].text);
              CAPTURE(texts[k].text);
              CHECK_FALSE((w > slack && h > slack));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("panels: no text is cut by the edge of the pane, except where a picture can be moved") {
  for (const capture::Capture* capture :
       {&beam_capture(), &draft_capture(), &two_owner_capture()}) {
    for (const auto& panel : panels_of(*capture)) {
      const std::string& name = panel->info().name;
      // These panels scroll or pan.
      if (name == "trie" || name == "text" || name == "narration" || name == "inspector" ||
          name == "summary" || name == "log" || name == "doctor")
        continue;
      for (const Rect area : kAreas) {
        CAPTURE(name);
        CAPTURE(area.w);
        for (const auto& text :
             drawn(*panel, area, scene_at(capture, capture->end_tick(), 13)).texts) {
          CAPTURE(text.text);
          CHECK(text.visible.w >= text.box.w - 1.0f);
          CHECK(text.visible.h >= text.box.h * 0.75f);
        }
      }
    }
  }
}

TEST_CASE("panels: forward and back give the identical picture") {
  for (const capture::Capture* capture : {&beam_capture(), &draft_capture()}) {
    const auto ticks = ticks_of(*capture);
    for (const auto& panel : make_panels()) {
      CAPTURE(panel->info().name);
      const Rect area{0, 0, 640, 360};
      std::vector<std::vector<std::string>> pictures;
      for (const capture::Tick tick : ticks)
        pictures.push_back(drawn(*panel, area, scene_at(capture, tick)).calls);
      for (std::size_t i = ticks.size(); i-- > 0;) {
        CAPTURE(ticks[i]);
        CHECK(drawn(*panel, area, scene_at(capture, ticks[i])).calls == pictures[i]);
        // A new panel draws the same.
        CHECK(drawn(*make_panel(panel->info().name), area, scene_at(capture, ticks[i])).calls ==
              pictures[i]);
      }
    }
  }
}

TEST_CASE("panels: view state survives being written and read, and rubbish is ignored") {
  for (const auto& panel : make_panels()) {
    CAPTURE(panel->info().name);
    const std::string state = panel->view_state();
    const auto other = make_panel(panel->info().name);
    other->set_view_state(state);
    CHECK(other->view_state() == state);
    for (const char* rubbish : {"", ";;;", "zoom=", "zoom=nan;mode", "closed=x,,9999999", "=;=;"}) {
      other->set_view_state(rubbish);
      drawn(*other, {0, 0, 400, 300}, last_scene(beam_capture()));
    }
  }
}

TEST_CASE("panels: figures of every panel are a CSV table with as many fields in every row") {
  for (const capture::Capture* capture : {&beam_capture(), &draft_capture()}) {
    for (const auto& panel : make_panels()) {
      CAPTURE(panel->info().name);
      const auto rows = parse_csv(panel->csv(last_scene(*capture)));
      REQUIRE(rows.size() >= 1);
      // The log and the doctor may be empty, beams have no drafts, and these models no experts.
      const bool drafts =
          (panel->info().name == "drafts" || panel->info().name == "acceptance-by" ||
           panel->info().name == "what-if" || panel->info().name == "cost") &&
          capture == &beam_capture();
      const std::string& name = panel->info().name;
      if (name != "log" && name != "doctor" && name != "experts" && !drafts)
        CHECK(rows.size() >= 2);
      for (const auto& row : rows) CHECK(row.size() == rows.front().size());
    }
  }
}

TEST_CASE("panels: the glossary explains every legend entry and column head") {
  std::set<std::string> terms;
  for (const capture::Capture* capture :
       {&beam_capture(), &draft_capture(), &two_owner_capture(), &test::withdrawn_drafts_capture()})
    for (const auto& panel : panels_of(*capture))
      for (const Rect area : kAreas)
        for (const capture::Tick tick : ticks_of(*capture)) {
          Scene scene = scene_at(capture, std::min(tick, capture->end_tick()));
          for (const bool ranged : {false, true}) {
            if (ranged) scene.range = {0, 1};
            for (const std::string& term : drawn(*panel, area, scene).terms) terms.insert(term);
          }
        }
  for (const std::string& term : terms) {
    CAPTURE(term);
    CHECK(meaning_of(term) != "");
  }
  for (const char* expected : {"accepted", "beam", "live", "Σ log p", "log p", "came", "ancestor",
                               "forward", "written in", "withdrawn"}) {
    CAPTURE(expected);
    CHECK(terms.contains(expected));
  }
}

TEST_CASE("panels: every panel takes a mouse anywhere and all keys, and still draws inside") {
  for (const capture::Capture* capture : {&beam_capture(), &draft_capture()}) {
    for (const auto& panel : make_panels()) {
      CAPTURE(panel->info().name);
      const Rect area{10, 10, 500, 320};
      Scene scene = last_scene(*capture);
      for (int i = 0; i < 400; ++i) {
        drawn(*panel, area, scene);
        const Input input = triescope::test::wandering_input(i, area);
        const Reaction reaction = panel->input(input, area, scene);
        const auto nodes = static_cast<std::int32_t>(capture->nodes().size());
        const auto prompt = static_cast<std::int32_t>(capture->run().prompt_tokens.size());
        for (const auto& node : {reaction.hover, reaction.lock})
          if (node) CHECK((*node < nodes && *node >= -1 - prompt));
        if (reaction.hover) scene.focus.hovered = *reaction.hover;
        if (reaction.lock) scene.focus.locked = *reaction.lock;
        if (reaction.cursor) {
          CHECK(*reaction.cursor >= 0);
          CHECK(*reaction.cursor <= capture->end_tick());
          scene.cursor = *reaction.cursor;
        }
        if (reaction.range) {
          CHECK(reaction.range->first <= reaction.range->second);
          scene.range = reaction.range;
        }
        if (reaction.clear_range) scene.range.reset();
      }
      const RecordingCanvas canvas = drawn(*panel, area, scene);
      CHECK(canvas.ink.right() <= area.right() + 0.5f);
      CHECK(canvas.ink.bottom() <= area.bottom() + 0.5f);
    }
  }
}

TEST_CASE("panels: the whole extent is as large as what is drawn") {
  for (const capture::Capture* capture : {&beam_capture(), &draft_capture()}) {
    for (const auto& panel : make_panels()) {
      CAPTURE(panel->info().name);
      Scene scene = last_scene(*capture);
      scene.export_mode = true;
      RecordingCanvas canvas;
      const Point extent = panel->extent(canvas, scene);
      CHECK(extent.x > 0);
      CHECK(extent.y > 0);
      panel->draw(canvas, {0, 0, extent.x, extent.y}, scene);
      CHECK(canvas.ink.right() <= extent.x + 0.5f);
      CHECK(canvas.ink.bottom() <= extent.y + 0.5f);
    }
  }
}

TEST_CASE("trie: every node of a small run is on the exported picture") {
  const capture::Capture& capture = beam_capture();
  Scene scene = last_scene(capture);
  scene.export_mode = true;
  const auto panel = make_panel("trie");
  RecordingCanvas canvas;
  const Point extent = panel->extent(canvas, scene);
  panel->draw(canvas, {0, 0, extent.x, extent.y}, scene);
  std::size_t boxes = 0;
  for (const std::string& call : canvas.calls) boxes += call.rfind("text ", 0) == 0;
  CHECK(boxes > capture.nodes().size());  // a label each, and probabilities
}

TEST_CASE("trie: what the mouse is over becomes the focus, a click locks it") {
  const capture::Capture& capture = beam_capture();
  const auto panel = make_panel("trie");
  const Rect area{0, 0, 900, 400};
  const Scene scene = last_scene(capture);
  drawn(*panel, area, scene);
  int found = 0;
  for (float y = 30; y < 400 && found == 0; y += 4) {
    for (float x = 5; x < 900; x += 6) {
      Input input;
      input.inside = true;
      input.mouse = {x, y};
      input.clicked = true;
      const Reaction reaction = panel->input(input, area, scene);
      if (!reaction.hover || *reaction.hover < 0) continue;
      ++found;
      CHECK(reaction.lock == reaction.hover);
      CHECK_FALSE(reaction.tooltip.empty());
      break;
    }
  }
  CHECK(found > 0);
}

}  // namespace test_panels
