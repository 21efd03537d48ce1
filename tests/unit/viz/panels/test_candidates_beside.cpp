// Candidates: in a wide pane the drafter's row of the same place stands beside the target's.
#include <doctest/doctest.h>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"

namespace triescope::viz::test_candidates_beside {
namespace {

void record_both(test::Recorder& out) {
  using namespace capture;
  out.write(
      {.run = test::synthetic_info(1, "medusa", "Medusa", "recycle"), .nodes = {{.node = 0}}});
  for (const std::int32_t token : {7, 8})
    out.write({.pieces = {{token, "t" + std::to_string(token)}}});
  const Tick draft = make_tick(1, Phase::kDraft), forward = make_tick(1, Phase::kForward);
  out.write({.candidates = {{.tick = draft, .token = 7, .logprob = -0.5f, .whose = Whose::kHead},
                            {.tick = forward, .token = 8, .logprob = -0.1f}}});
  out.write({.phases = {{.tick = draft, .duration_us = 1}}});
  out.write({.phases = {{.tick = forward, .duration_us = 1}}});
}

TEST_CASE("candidates: a wide pane has the drafter's row beside the target's") {
  const auto opened = test::make_capture([](test::Recorder& out) { record_both(out); });
  const Scene scene = test::scene_at(*opened->capture, opened->capture->end_tick());
  const auto panel = make_panel("candidates");
  const auto wide = test::drawn(*panel, scene, {0, 0, 900, 300});
  const auto *const target = test::find(wide, "t8"), *const drafted = test::find(wide, "t7");
  REQUIRE(target);
  REQUIRE(drafted);
  CHECK(test::find(wide, "draft head"));
  CHECK(target->box.x < 450);
  CHECK(drafted->box.x > 450);
  CHECK_FALSE(test::find(test::drawn(*panel, scene, {0, 0, 400, 300}), "t7"));
  // Whoever chose one of the two sees that one.
  panel->set_view_state("whose=head");
  const auto alone = test::drawn(*panel, scene, {0, 0, 900, 300});
  CHECK(test::find(alone, "t7"));
  CHECK_FALSE(test::find(alone, "t8"));
}

}  // namespace
}  // namespace triescope::viz::test_candidates_beside
