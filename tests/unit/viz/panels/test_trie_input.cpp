#include <doctest/doctest.h>

#include <optional>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"

namespace triescope::test::test_trie_input {
namespace {

TEST_CASE("trie: '.' goes to the node below in its column, ',' to the one above") {
  const Capture& run = beam_capture();  // its first step hangs nodes 1, 2, 3 below the prompt
  const viz::Rect area{0, 0, 700, 400};
  const auto panel = viz::make_panel("trie");
  viz::Scene scene = scene_at(run, make_tick(1, Phase::kDraft));
  const auto pressed = [&](std::int32_t focus, bool next) {
    scene.focus.locked = focus;
    drawn(*panel, scene, area);
    viz::Input in;
    (next ? in.next : in.previous) = true;
    return panel->input(in, area, scene).lock;
  };
  CHECK(pressed(1, true) == 2);
  CHECK(pressed(2, true) == 3);
  CHECK(pressed(3, true) == std::nullopt);
  CHECK(pressed(3, false) == 2);
  CHECK(pressed(2, false) == 1);
  CHECK(pressed(1, false) == std::nullopt);
  CHECK(pressed(0, true) == std::nullopt);
  CHECK(pressed(-1, true) == std::nullopt);
}

}  // namespace
}  // namespace triescope::test::test_trie_input
