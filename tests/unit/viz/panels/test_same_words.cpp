// Panels that name the same thing use the same words.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"

namespace triescope::viz::test_same_words {
namespace {

using capture::Phase;
using test::drawn;
using test::find;
using test::mouse_at;
using test::scene_at;

constexpr Rect kArea{0, 0, 900, 400};

// Two steps under a policy. In the second, slot 5 is written from slot 4 and six slots are copied.
std::unique_ptr<test::OpenedCapture> copying_run(const std::string& policy) {
  return test::make_capture([&](test::Recorder& out) {
    using namespace test;
    auto info = synthetic_info(3, "beam", "Beam search", policy);
    info.kv_bytes_per_token = 2048;
    out.write({.run = info});
    out.write(
        {.nodes = {{.node = 0}, {.node = 1, .parent = 0, .token = 5, .depth = 1, .tick = 5}}});
    const std::int64_t bytes = 2048;
    out.write({.slots = {{.tick = 0, .slot = 0, .node = -2},
                         {.tick = make_tick(1, Phase::kForward), .slot = 4, .node = 1},
                         {.tick = make_tick(1, Phase::kCommit),
                          .action = SlotAction::kMove,
                          .slot = 5,
                          .node = 1,
                          .from_slot = 4}}});
    out.write({.memory = {{.step = 0, .live = 3, .reserved = 8, .greedy = 3, .batch_beam = 6},
                          {.step = 1,
                           .live = 4,
                           .reserved = 8,
                           .greedy = 4,
                           .batch_beam = 8,
                           .moved_bytes = 6 * bytes}}});
    for (int tick = 0; tick <= make_tick(1, Phase::kObserve); ++tick)
      out.write({.phases = {{.tick = tick}}});
    out.write({.steps = {{.step = 0}, {.step = 1, .frontier = 1}}});
    out.write({.finish = Finish{RunStatus::kDone, ""}});
  });
}

std::vector<std::string> memory_tooltip(const Scene& scene) {
  const auto panel = make_panel("memory");
  drawn(*panel, scene, kArea);
  std::vector<std::string> last;
  for (float x = 0; x < kArea.w; x += 2)
    if (auto lines = panel->input(mouse_at({x, 250}), kArea, scene).tooltip;
        !lines.empty() && lines[0] == "step 1")
      last = std::move(lines);
  return last;
}

bool says(const std::vector<std::string>& lines, const std::string& wanted) {
  for (const std::string& line : lines)
    if (line == wanted) return true;
  return false;
}

TEST_CASE(
    "same words: memory and KV slots name the copies of batch beam search, and those of compaction") {
  for (const auto& [policy, memory, legend, title] :
       {std::tuple{"batch", "copied in this step: 6 slots = 12.3 KB, every beam's whole cache",
                   "from another beam's cache 1",
                   "after: each beam's cache gathered from its parent's"},
        std::tuple{"compact", "copied in this step: 6 slots = 12.3 KB", "moved 1",
                   "after: survivors moved together"}}) {
    CAPTURE(policy);
    const auto opened = copying_run(policy);
    const Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
    CHECK(says(memory_tooltip(scene), memory));
    const auto canvas = drawn(*make_panel("kv"), scene, kArea);
    CHECK(find(canvas, legend));
    CHECK(find(canvas, title));
  }
}

TEST_CASE("memory: with the cursor outside the range the figures are still the cursor's") {
  const auto opened = copying_run("recycle");
  Scene scene = scene_at(*opened->capture, capture::make_tick(1, Phase::kDraft));
  scene.range = {1, 1};
  const auto outside = drawn(*make_panel("memory"), scene, kArea);
  CHECK(find(outside, "live 3"));
  CHECK_FALSE(find(outside, "live 4"));
  CHECK(find(outside, "end of step 0 (outside the range):"));
  scene.range = {0, 1};
  for (const auto& text : drawn(*make_panel("memory"), scene, kArea).texts)
    CHECK(text.text.find("outside") == std::string::npos);
}

TEST_CASE("trie: the prompt begins with … only where something is cut") {
  for (const auto& [tokens, shown] :
       {std::pair{2, std::string("The·quick")}, std::pair{30, std::string("…")}}) {
    const auto opened = test::make_capture([tokens = tokens](test::Recorder& out) {
      using namespace test;
      auto info = synthetic_info(tokens, "greedy", "Greedy decoding", "recycle");
      for (int i = 0; i < tokens; ++i) info.prompt_tokens[static_cast<std::size_t>(i)] = i % 2;
      out.write({.run = info});
      out.write({.pieces = {{0, "The"}, {1, " quick"}}});
      out.write({.nodes = {{.node = 0}}});
      out.write({.phases = {{.tick = 0}}});
      out.write({.finish = Finish{RunStatus::kDone, ""}});
    });
    bool found = false;
    for (const auto& text :
         drawn(*make_panel("trie"), scene_at(*opened->capture, 1), kArea).texts) {
      found |= text.text.starts_with(shown);
      if (tokens == 2) CHECK_FALSE(text.text.starts_with("…"));
    }
    CHECK(found);
  }
}

TEST_CASE("text: a character of the prompt that is spread over tokens is shown once, whole") {
  const auto opened = test::make_capture([](test::Recorder& out) {
    using namespace test;
    auto info = synthetic_info(4, "greedy", "Greedy decoding", "recycle");
    info.prompt_tokens = {0, 1, 2, 3};
    out.write({.run = info});
    out.write({.pieces = {{0, "a "}, {1, "\xE4\xBD"}, {2, "\xA0"}, {3, "\xE5"}}});
    out.write({.nodes = {{.node = 0}}});
    out.write({.phases = {{.tick = 0}}});
    out.write({.finish = Finish{RunStatus::kDone, ""}});
  });
  const auto canvas = drawn(*make_panel("text"), scene_at(*opened->capture, 1), kArea);
  CHECK(find(canvas, "你"));
  CHECK(find(canvas, "⟨E5⟩"));  // its other bytes never came
  for (const auto& text : canvas.texts) CHECK(text.text.find("\uFFFD") == std::string::npos);
}

TEST_CASE("decisions: a run without drafts and without beams has no chart of margins") {
  const auto opened = copying_run("recycle");  // no verdict has a gap
  const Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
  const Rect tall{0, 0, 700, 700};
  CHECK_FALSE(
      find(drawn(*make_panel("verdict"), scene, tall), "margin by step: Δ Σ log p at the cut"));
  CHECK(find(drawn(*make_panel("verdict"),
                   scene_at(test::beam_capture(), test::beam_capture().end_tick()), tall),
             "margin by step: Δ Σ log p at the cut"));
}

}  // namespace
}  // namespace triescope::viz::test_same_words
