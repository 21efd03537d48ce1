// Panels' texts about a node.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/viz/two_owners.h"
#include "viz/draw/node_text.h"

namespace triescope::viz::test_node_text {
namespace {

using capture::Phase;
using capture::Whose;

Scene after_step_1() {
  Scene scene;
  scene.capture = &test::two_owner_capture();
  scene.cursor = capture::make_tick(2, Phase::kDraft);
  return scene;
}

TEST_CASE("node text: prompt tokens, the root, nodes, and nothing") {
  const Scene scene = after_step_1();
  CHECK(node_text(scene, -2) == "The");
  CHECK(node_text(scene, -4) == "·of");
  CHECK(node_text(scene, -5) == "?");  // the prompt has three tokens
  CHECK(node_text(scene, 0) == "prompt");
  CHECK(node_text(scene, 1) == "·Paris");
  CHECK(node_text(scene, 6) == "");
  CHECK(node_text(scene, -1) == "");
  CHECK(node_position(scene, -4) == 2);
  CHECK(node_position(scene, 1) == 3);
  CHECK(node_position(scene, 5) == 6);
}

TEST_CASE("node summary: with the slot in the cache that is asked for") {
  const Scene scene = after_step_1();
  CHECK(node_summary(scene, -1) == "");
  CHECK(node_summary(scene, -3) == "prompt token 1  ·capital  position 1  slot 1");
  CHECK(node_summary(scene, 4) == "node 4  ·city  position 5  slot 6");
  CHECK(node_summary(scene, 4, Whose::kDraft) == "node 4  ·city  position 5");
  CHECK(node_summary(scene, 3) == "node 3  ·a  position 4");
  CHECK(node_summary(scene, 3, Whose::kDraft) == "node 3  ·a  position 4  slot 5");
}

TEST_CASE("node tooltip: state, source, probability, score, beam and reason, a line each") {
  const Scene scene = after_step_1();
  using Lines = std::vector<std::string>;
  CHECK(node_tooltip(scene, 0) == Lines{node_summary(scene, 0)});
  CHECK(node_tooltip(scene, 3) == Lines{"node 3  ·a  position 4", "rejected, from draft model",
                                        "log p(token | path) = -0.500,  p = 0.607",
                                        "Σ log p over the path = -1.000"});
  const Lines best = node_tooltip(scene, 4);
  REQUIRE(best.size() == 5);
  CHECK(best[1] == "accepted, from draft model");
  CHECK(best[4] == "on the path of beam 1");
}

TEST_CASE("node tooltip: what the other run has instead, in the last line") {
  Scene scene = after_step_1();
  CHECK(difference_text(scene, 4) == "");
  Twins twins;
  twins.node = {0, 1, -1, 3, 7, 5};
  twins.differ = {0, 0, 1, 0, 1, 0};
  scene.twins = &twins;
  CHECK(difference_text(scene, 2) == "≠ the other run has no such path");
  CHECK(difference_text(scene, 4) == "≠ kept in one of the two runs and not in the other");
  CHECK(difference_text(scene, 3) == "");
  CHECK(difference_text(scene, -2) == "");
  CHECK(node_tooltip(scene, 4).back() == difference_text(scene, 4));
}

}  // namespace
}  // namespace triescope::viz::test_node_text
