// The ends of the trie's paths, the names in its legend, and what stays in sight.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "tests/support/paths.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/panel.h"
#include "viz/text/number_text.h"

namespace triescope::test::test_trie_tips {
namespace {

constexpr viz::Rect kArea{0, 0, 1400, 900};

TEST_CASE("trie: Σ log p stands behind every live beam") {
  const Capture& run = beam_capture();
  const auto canvas =
      drawn(*viz::make_panel("trie"), scene_at(run, make_tick(5, Phase::kDraft)), kArea);
  for (const FrontierRow& row : run.frontier(4)) CHECK(find(canvas, viz::logprob_text(row.score)));
}

TEST_CASE("trie: a finished hypothesis keeps its final score while others go on") {
  const auto opened = make_capture([](Recorder& out) {
    out.write({.run = synthetic_info(3, "beam", "Trie beam search", "recycle")});
    const Tick accept = make_tick(0, Phase::kAccept);
    out.write(
        {.nodes = {
             {.node = 0},
             {.node = 1, .parent = 0, .token = 5, .depth = 1, .score = -0.5f, .tick = accept},
             {.node = 2, .parent = 0, .token = 6, .depth = 1, .score = -0.75f, .tick = accept}}});
    out.write(
        {.verdicts = {{.tick = accept, .node = 1, .verdict = Verdict::kFinished, .score = -0.25f},
                      {.tick = accept, .node = 2, .verdict = Verdict::kKept, .rank = 0}}});
    out.write({.frontier = {{.node = 2, .score = -0.75f}}});
    out.write({.sequences = {
                   {.tick = accept, .node = 1, .score = -0.25f, .finish = "eos", .tokens = {5}}}});
    out.write({.phases = {{.tick = accept}}});
  });
  const auto canvas = drawn(*viz::make_panel("trie"),
                            scene_at(*opened->capture, make_tick(0, Phase::kCommit)), kArea);
  CHECK(find(canvas, "final -0.250"));
  CHECK(find(canvas, "-0.750"));
  CHECK(find(canvas, "#1"));
}

TEST_CASE("trie: the legend is that of drafts as soon as there is one") {
  const Capture& run = draft_capture();
  const auto panel = viz::make_panel("trie");
  auto canvas = drawn(*panel, scene_at(run, make_tick(1, Phase::kDraft)), kArea);
  CHECK(find(canvas, "text: Σ log p"));
  CHECK_FALSE(find(canvas, "corrected"));
  canvas = drawn(*panel, scene_at(run, make_tick(1, Phase::kForward)), kArea);
  CHECK(find(canvas, "bonus"));
  CHECK(find(canvas, "corrected"));
  CHECK(find(canvas, "rejected"));
  CHECK(find(canvas, "read by this forward"));
  CHECK_FALSE(find(canvas, "text: Σ log p"));
}

TEST_CASE(
    "trie: the legend tells of beams in runs that have them, and of nothing that a run lacks") {
  const auto legend_of = [](const std::string& name) {
    const auto run =
        Capture::open((source_dir() / "assets" / "lessons" / (name + ".tscap")).string());
    // The cursor is before any decision, in the middle and at the end.
    std::set<std::string> found;
    for (const Tick cursor : {Tick{1}, run->end_tick() / 2, run->end_tick()}) {
      const auto canvas = drawn(*viz::make_panel("trie"), scene_at(*run, cursor), kArea);
      std::set<std::string> legend;
      for (const char* entry :
           {"beam: rank, Σ log p", "pruned", "finished: final score", "gap at the cut",
            "text: Σ log p", "finished", "accepted", "p below a token; a line is as wide as p"})
        if (find(canvas, entry)) legend.insert(entry);
      if (!found.empty()) CHECK(legend == found);
      found = legend;
    }
    return found;
  };
  const char* const p = "p below a token; a line is as wide as p";
  for (const char* plain : {"greedy", "sample", "gumbel"}) {
    CAPTURE(plain);
    CHECK(legend_of(plain) == std::set<std::string>{"text: Σ log p", "finished", p});
  }
  for (const char* beams : {"beam", "keep", "prune"}) {
    CAPTURE(beams);
    CHECK(legend_of(beams) == std::set<std::string>{"beam: rank, Σ log p", "pruned",
                                                    "finished: final score", "gap at the cut", p});
  }
}

TEST_CASE("trie: however far drafts reach, the node that they hang from stays in sight") {
  const Capture& run = draft_capture();
  int steps = 0;
  for (const StepRow& step : run.steps()) {
    if (step.drafted < 3) continue;
    CAPTURE(step.step);
    const auto panel = viz::make_panel("trie");
    const auto canvas =
        drawn(*panel, scene_at(run, make_tick(step.step, Phase::kForward)), {0, 0, 300, 300});
    const auto* rank = find(canvas, "#1");
    REQUIRE(rank);
    CHECK(rank->visible.w == doctest::Approx(rank->box.w));
    CHECK(rank->visible.w > 0);
    ++steps;
  }
  CHECK(steps > 3);
}

TEST_CASE("trie: a forced token within a folded run is named below the run") {
  // A path of 40 tokens, whose 10th was forced.
  for (const bool is_forced : {false, true}) {
    const auto opened = make_capture([&](Recorder& out) {
      out.write({.run = synthetic_info(3, "greedy", "Greedy", "recycle")});
      for (std::int32_t token = 0; token < 9; ++token)
        out.write({.pieces = {{token, synthetic_pieces()[static_cast<std::size_t>(token)]}}});
      std::vector<NodeRow> nodes = {{.node = 0}};
      for (std::int32_t i = 1; i <= 40; ++i)
        nodes.push_back({.node = i,
                         .parent = i - 1,
                         .token = i == 10 ? 5 : 7,
                         .depth = i,
                         .source = i == 10 && is_forced ? Source::kForced : Source::kGreedy,
                         .tick = make_tick(0, Phase::kAccept)});
      out.write({.nodes = nodes});
      out.write({.frontier = {{.node = 40}}});
      out.write({.phases = {{.tick = make_tick(0, Phase::kAccept)}}});
    });
    const auto panel = viz::make_panel("trie");
    panel->set_view_state("mode=all;zoom=1");
    const auto canvas =
        drawn(*panel, scene_at(*opened->capture, make_tick(0, Phase::kCommit)), {0, 0, 1400, 300});
    std::string caption;
    for (const auto& text : canvas.texts)
      if (text.text.find(" tokens") != std::string::npos && !text.text.starts_with("prompt"))
        caption = text.text;
    CAPTURE(caption);
    REQUIRE_FALSE(caption.empty());
    CHECK(caption.ends_with(is_forced ? " tokens, forced ·Paris" : " tokens"));
  }
}

TEST_CASE("trie: a prompt of one token is one token") {
  const auto opened = make_capture([](Recorder& out) {
    out.write({.run = synthetic_info(1, "greedy", "Greedy", "recycle")});
    out.write({.nodes = {{.node = 0}}});
    out.write({.phases = {{.tick = make_tick(0, Phase::kAccept)}}});
  });
  const auto canvas = drawn(*viz::make_panel("trie"),
                            scene_at(*opened->capture, make_tick(0, Phase::kCommit)), kArea);
  CHECK(find(canvas, "prompt, 1 token"));
}

}  // namespace
}  // namespace triescope::test::test_trie_tips
