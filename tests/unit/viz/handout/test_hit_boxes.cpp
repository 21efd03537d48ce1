// Finds where each node lies, by asking a panel about its own drawing.
#include <doctest/doctest.h>

#include "viz/handout/hit_boxes.h"

namespace test_hit_boxes {

using namespace triescope::viz;
using Kind = Element::Kind;

namespace {

// A panel whose nodes lie in given boxes and nowhere else.
class Board final : public Panel {
 public:
  std::vector<HitBox> nodes;
  int asked = 0;

  const PanelInfo& info() const override {
    static const PanelInfo info = {"board", "Board", "", "", ""};
    return info;
  }
  void draw(Canvas&, Rect, const Scene&) override {}
  Point extent(Canvas&, const Scene&) const override { return {}; }
  std::string csv(const Scene&) const override { return ""; }
  Reaction input(const Input& in, Rect, const Scene&) override {
    ++asked;
    CHECK(in.inside);
    CHECK_FALSE(in.clicked);
    Reaction reaction;
    for (const HitBox& hit : nodes)
      if (hit.box.contains(in.mouse)) reaction.hover = hit.node;
    return reaction;
  }
};

Element element(Kind kind, Rect box) { return {kind, 0, 0, "", {}, box}; }

struct Found {
  std::int32_t node;
  float x, y, w, h;
  bool operator==(const Found&) const = default;
};
std::vector<Found> asked(Board& board, std::vector<Element> drawn) {
  std::vector<Found> out;
  for (const HitBox& hit : hit_boxes(board, {0, 0, 500, 500}, {}, drawn))
    out.push_back({hit.node, hit.box.x, hit.box.y, hit.box.w, hit.box.h});
  return out;
}

}  // namespace

TEST_CASE("handout: a box belongs to the node that the panel finds in all of it") {
  Board board;
  board.nodes = {{3, {10, 10, 50, 20}}, {-2, {70, 10, 50, 20}}};
  CHECK(
      asked(board, {element(Kind::kFill, {10, 10, 50, 20}), element(Kind::kFill, {70, 10, 50, 20}),
                    element(Kind::kFill, {10, 40, 50, 20})}) ==
      std::vector<Found>{{-2, 70, 10, 50, 20}, {3, 10, 10, 50, 20}});
}

TEST_CASE("handout: a band over several nodes belongs to none of them") {
  Board board;
  board.nodes = {{3, {10, 10, 50, 20}}, {4, {60, 10, 50, 20}}};
  CHECK(asked(board, {element(Kind::kFill, {10, 10, 80, 20})}).empty());
  CHECK(asked(board, {element(Kind::kFill, {0, 0, 110, 35})}).empty());
}

TEST_CASE("handout: lines, clips and areas are not asked about, marks and texts are") {
  Board board;
  board.nodes = {{3, {0, 0, 100, 100}}};
  for (const Kind kind : {Kind::kStroke, Kind::kClip, Kind::kUnclip, Kind::kArea, Kind::kRing})
    CHECK(asked(board, {element(kind, {10, 10, 50, 20})}).empty());
  CHECK(board.asked == 0);
  for (const Kind kind : {Kind::kFill, Kind::kFrame, Kind::kDisc, Kind::kText})
    CHECK(asked(board, {element(kind, {10, 10, 50, 20})}) ==
          std::vector<Found>{{3, 10, 10, 50, 20}});
}

TEST_CASE("handout: what lies within a box of the same node is not kept, another node's is") {
  Board board;
  board.nodes = {{3, {0, 0, 100, 100}}, {4, {40, 40, 20, 20}}};
  CHECK(asked(board, {element(Kind::kText, {10, 5, 20, 20}), element(Kind::kFill, {5, 0, 90, 30}),
                      element(Kind::kFrame, {4.5f, -0.5f, 91, 31}),
                      element(Kind::kText, {42, 42, 10, 10})}) ==
        std::vector<Found>{{3, 4.5f, -0.5f, 91, 31}, {4, 42, 42, 10, 10}});
}

TEST_CASE("handout: a column of cells is one box, cells with a gap are two") {
  Board board;
  board.nodes = {{3, {0, 0, 20, 200}}};
  CHECK(asked(board, {element(Kind::kFill, {0, 0, 20, 9}), element(Kind::kFill, {0, 10, 20, 9}),
                      element(Kind::kFill, {0, 20, 20, 9}), element(Kind::kFill, {0, 40, 20, 9}),
                      element(Kind::kFill, {0, 50, 12, 9})}) ==
        std::vector<Found>{{3, 0, 0, 20, 29}, {3, 0, 40, 20, 9}, {3, 0, 50, 12, 9}});
}

TEST_CASE("handout: a point is asked about once") {
  Board board;
  board.nodes = {{3, {0, 0, 100, 100}}};
  asked(board, {element(Kind::kFill, {10, 10, 50, 20}), element(Kind::kFrame, {10, 10, 50, 20}),
                element(Kind::kFill, {10, 10, 50, 20})});
  CHECK(board.asked == 3);
}

TEST_CASE("handout: fields of a row are one box where all between them is the node's") {
  Board board;
  board.nodes = {{3, {0, 0, 300, 20}}, {4, {0, 20, 40, 20}}, {4, {80, 20, 40, 20}}};
  CHECK(asked(board, {element(Kind::kText, {10, 3, 30, 14}), element(Kind::kText, {100, 4, 30, 12}),
                      element(Kind::kText, {200, 3, 90, 15}), element(Kind::kText, {5, 22, 30, 14}),
                      element(Kind::kText, {85, 22, 30, 14})}) ==
        std::vector<Found>{{3, 10, 3, 280, 15}, {4, 5, 22, 30, 14}, {4, 85, 22, 30, 14}});
}

}  // namespace test_hit_boxes
