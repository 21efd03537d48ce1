// The inspector's facts about a node, for a run made by hand.
#include <doctest/doctest.h>

#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/query/run_settings.h"

namespace triescope::test::test_inspector {
namespace {

// Two beams, of which the second goes on in step 1.
const Capture& beams() {
  static const auto opened = make_capture([](Recorder& out) {
    const Tick first = make_tick(0, Phase::kAccept), second = make_tick(1, Phase::kAccept);
    const auto node = [](std::int32_t id, std::int32_t parent, std::int32_t token, float logprob,
                         float score, Tick tick) {
      return NodeRow{.node = id,
                     .parent = parent,
                     .token = token,
                     .depth = parent == 0 ? 1 : 2,
                     .logprob = logprob,
                     .score = score,
                     .source = Source::kBeam,
                     .tick = tick};
    };
    out.write({.run = synthetic_info(3, "beam", "", "recycle"),
               .pieces = {{2, " of"}, {7, " a"}, {9, " on"}},
               .nodes = {{},
                         node(1, 0, 5, -0.25f, -0.25f, first),
                         node(2, 0, 7, -0.5f, -0.5f, first),
                         node(3, 2, 8, -0.125f, -0.625f, second)},
               .verdicts = {{.tick = first, .node = 1, .verdict = Verdict::kKept, .rank = 0},
                            {.tick = first,
                             .node = 2,
                             .verdict = Verdict::kKept,
                             .p = 0.5f,
                             .rank = 1,
                             .score = -0.5f,
                             .gap = 0.25f,
                             .replacement = 9,
                             .reason = Reason::kBeamKept,
                             .threshold = -0.75f,
                             .count = 2}},
               .frontier = {{.step = 0, .rank = 0, .node = 1}, {.step = 0, .rank = 1, .node = 2}},
               .slots = {{.tick = 1, .slot = 6, .node = -4}},
               .phases = {{.tick = make_tick(1, Phase::kObserve)}}});
  });
  return *opened->capture;
}

std::string facts_about(std::int32_t node, Tick cursor) {
  viz::Scene scene = scene_at(beams(), cursor);
  scene.focus.locked = node;
  return viz::make_panel("inspector")->csv(scene);
}

TEST_CASE("inspector: whole lines are drawn, and a corner leads to those out of sight") {
  const viz::Scene scene = scene_at(beams(), beams().end_tick());
  const auto panel = viz::make_panel("inspector");
  const viz::Rect area{0, 0, 300, 150};
  const float em = scene.em;
  std::string first;
  for (int page = 0; page < 40; ++page) {
    const auto canvas = drawn(*panel, scene, area);
    REQUIRE(!canvas.texts.empty());
    for (const auto& text : canvas.texts) {
      CAPTURE(text.text);
      CHECK(text.visible.h == doctest::Approx(text.box.h));
      CHECK(text.box.y >= area.y - em * 0.2f);
      CHECK(text.box.bottom() <= area.bottom() + em * 0.2f);
    }
    if (page == 0) first = canvas.texts.front().text;
    if (page > 0) CHECK(canvas.texts.front().text != first);
    viz::Input in = mouse_at({area.right() - 2, area.bottom() - 2});
    in.clicked = true;
    if (panel->input(in, area, scene).tooltip.empty()) {  // that was the last page
      CHECK(page > 0);
      return;
    }
  }
  FAIL("the corner never goes");
}

TEST_CASE("inspector: a run's facts name what drafts, a model or a head, as it was recorded") {
  const auto drafts_with = [](const std::string& draft) {
    const auto opened = make_capture([&](Recorder& out) {
      RunInfo info = synthetic_info(3, "eagle3", "", "recycle");
      info.model_json = R"({"name": "big", "draft": )" + draft + "}";
      out.write({.run = info, .nodes = {{}}});
    });
    return viz::make_panel("inspector")->csv(scene_at(*opened->capture, 1));
  };
  const auto says = [&](const std::string& draft, const std::string& line) {
    CAPTURE(draft);
    const std::string all = drafts_with(draft);
    CAPTURE(all);
    CHECK(all.find("\n" + line + ",") != std::string::npos);
  };
  says(R"({"name": "eagle3", "family": "draft head"})", "draft head,eagle3");
  says(R"({"name": "small", "family": "llama"})", "draft model,small");
  says(R"({"name": 7, "family": 8})", "draft model,7");
}

TEST_CASE("inspector: a setting has the recorder's word for its value, else the value") {
  const auto opened = make_capture([](Recorder& out) {
    RunInfo info = synthetic_info(3, "beam", "", "recycle");
    info.settings_json = R"({"fan":0,"hops":0,"list":[],"name":"x","ratio":0.5})";
    info.setting_titles_json = R"({"fan":"Fan Out","list":"List"})";
    info.setting_words_json = R"({"fan":"auto","list":"its own","name":7,"other":"off"})";
    out.write({.run = info, .nodes = {{}}});
  });
  const std::string all = viz::make_panel("inspector")->csv(scene_at(*opened->capture, 1));
  CAPTURE(all);
  CHECK(all.ends_with("\nFan Out,auto,fan\nhops,0,\nList,its own,list\nname,x,\nratio,0.5,\n"));
  CHECK(viz::settings_text(opened->capture->run()) ==
        "Fan Out auto, hops 0, List its own, name x, ratio 0.5");
  for (const char* broken : {"", "[]", "{", "7"}) {
    RunInfo info = opened->capture->run();
    info.setting_words_json = broken;
    CHECK(viz::settings_text(info) == "Fan Out 0, hops 0, List [], name x, ratio 0.5");
  }
}

TEST_CASE("inspector: a node's place, figures and verdict, ranks counted from one") {
  const Tick accept = make_tick(0, Phase::kAccept);
  CHECK(facts_about(2, accept + 1) ==
        "field,value,formula\n"
        "node,2,\n"
        "text,·a,\n"
        "token id,7,\n"
        "parent,0  prompt,\n"
        "depth,1,\n"
        "position,3,prompt + depth − 1 = 3 + 1 − 1\n"
        "source,beam,\n"
        "state,live,\n"
        "since step,\"0, accept\",\n"
        "log p,-0.50000,log p(token | path) = logit − logsumexp(logits)\n"
        "p,0.606531,exp(log p)\n"
        "Σ log p,-0.50000,over the path\n"
        "slot,none,\n"
        "beam,on the path of beam 2,\n"
        "children,0,\n"
        "verdict,kept,number 2 of 2 beams; the best one left out has -0.75\n"
        "p (verdict),0.50000,\n"
        "rank,2,\n"
        "Δ,0.2500,distance to the nearest beam on the other side of the cut\n"
        "replaced by,·on,\n");
  const std::string later = facts_about(2, make_tick(1, Phase::kCommit));
  CHECK(later.find("\nchildren,1,\n") != std::string::npos);
  CHECK(facts_about(0, accept).find("\nbeam,on no live path,\nchildren,0,\n") != std::string::npos);
  CHECK(facts_about(-4, accept) ==
        "field,value,formula\n"
        "prompt token,2,\n"
        "text,·of,\n"
        "position,2,prompt tokens stand at 0 … prompt − 1\n"
        "token id,2,\n"
        "slot,6,\n");
  // A node that is not there yet gives the run's facts.
  CHECK(facts_about(2, accept).find("\nmodel,SmolLM2-135M-Instruct,\n") != std::string::npos);
}

}  // namespace
}  // namespace triescope::test::test_inspector
