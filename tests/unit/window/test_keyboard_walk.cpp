#include <doctest/doctest.h>

#include "app/window/shell/keyboard_walk.h"

namespace triescope::app::test_keyboard_walk {
namespace {

// Three boxes in a row, one below the second, and one far to the right of the first and much lower.
std::vector<viz::HitBox> tree() {
  return {{1, {0, 0, 20, 10}},
          {2, {40, 0, 20, 10}},
          {3, {80, 0, 20, 10}},
          {4, {40, 30, 20, 10}},
          {5, {30, 90, 20, 10}}};
}

TEST_CASE("keyboard walk: an arrow in a panel leads to the node that lies there") {
  CHECK(node_beside(tree(), 1, 1, 0) == 2);
  CHECK(node_beside(tree(), 2, 1, 0) == 3);
  CHECK(node_beside(tree(), 3, -1, 0) == 2);
  CHECK(node_beside(tree(), 2, 0, 1) == 4);
  CHECK(node_beside(tree(), 4, 0, -1) == 2);
  CHECK(node_beside(tree(), 5, 0, -1) == 4);
}

TEST_CASE("keyboard walk: where nothing lies in that direction the focus stays") {
  CHECK(node_beside(tree(), 1, -1, 0) == -1);
  CHECK(node_beside(tree(), 3, 1, 0) == -1);
  CHECK(node_beside(tree(), 5, 0, 1) == -1);
}

TEST_CASE(
    "keyboard walk: without a node, or with one that is not in the panel, an arrow begins with the first") {
  CHECK(node_beside(tree(), -1, 1, 0) == 1);
  CHECK(node_beside(tree(), 77, 0, 1) == 1);
  CHECK(node_beside({}, 2, 1, 0) == -1);
}

TEST_CASE("keyboard walk: a nearer one that lies aside gives way to one straight ahead") {
  // One box is 20 px ahead and 30 aside, the other 60 px straight ahead.
  const std::vector<viz::HitBox> boxes = {
      {1, {0, 0, 10, 10}}, {2, {20, 30, 10, 10}}, {3, {60, 0, 10, 10}}};
  CHECK(node_beside(boxes, 1, 1, 0) == 3);
}

TEST_CASE("keyboard walk: boxes of the node itself are not beside it") {
  const std::vector<viz::HitBox> boxes = {
      {7, {0, 0, 10, 10}}, {7, {20, 0, 10, 10}}, {8, {50, 0, 10, 10}}};
  CHECK(node_beside(boxes, 7, 1, 0) == 8);
}

}  // namespace
}  // namespace triescope::app::test_keyboard_walk
