// Static trees of ranks: what is read, what is refused, which one is taken by default.
#include <doctest/doctest.h>

#include "core/methods/rank_tree.h"
#include "core/methods/token_heads_drafter.h"
#include "core/model/heads/draft_head.h"
#include "tests/support/refusal.h"

namespace triescope::test::test_rank_tree {
namespace {

// "parent:rank" of every node, a line a level.
std::vector<std::string> shape(const RankTree& tree) {
  std::vector<std::string> lines;
  for (const auto& level : tree.levels) {
    std::string line;
    for (const RankTree::Node& node : level)
      line +=
          (line.empty() ? "" : " ") + std::to_string(node.parent) + ":" + std::to_string(node.rank);
    lines.push_back(line);
  }
  return lines;
}
using Lines = std::vector<std::string>;

TEST_CASE("rank tree: paths of ranks in any order become levels, siblings in the order given") {
  CHECK(shape(parse_rank_tree("0", 1, "")) == Lines{"0:0"});
  CHECK(shape(parse_rank_tree("1; 0 ;0,2;1,0;0,0;0,2,5", 3, "")) ==
        Lines{"0:1 0:0", "1:2 0:0 1:0", "0:5"});
  CHECK(shape(parse_rank_tree("0,0;255;0", 2, "")) == Lines{"0:255 0:0", "1:0"});
}

TEST_CASE("rank tree: text that is not a tree of ranks is refused, naming the path") {
  const auto why = [](const std::string& text) {
    return refusal(ErrorCode::kInvalidArgument,
                   [&] { parse_rank_tree(text, 3, "the file's 3 heads"); });
  };
  const std::string begin = "tree: expected paths of ranks such as 0;1;0,0;0,1; found ";
  CHECK(why("0;1,0") == begin + "path 1,0 without the path above it");
  CHECK(why("0;1;0") == begin + "path 0 twice");
  CHECK(why("0;") == begin + "\"\" where a rank from 0 to 255 goes");
  CHECK(why("0;x") == begin + "\"x\" where a rank from 0 to 255 goes");
  CHECK(why("0;-1") == begin + "\"-1\" where a rank from 0 to 255 goes");
  CHECK(why("256") == begin + "\"256\" where a rank from 0 to 255 goes");
  CHECK(why("0;0,0;0,0,0;0,0,0,0") ==
        begin + "path 0,0,0,0, 4 levels deep: at most 3 fit the file's 3 heads");
  std::string many = "0";
  for (int i = 1; i < 256; ++i) many += ";" + std::to_string(i);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 256; ++j) many += ";" + std::to_string(i) + "," + std::to_string(j);
  CHECK(parse_rank_tree(many, 3, "").levels[1].size() == 768);
  CHECK(why(many + ";3,0") == begin + "1025 paths, of at most 1024");
}

TEST_CASE(
    "rank tree: the default tree is as much of the best-first list as the device does cheaply") {
  RunContext run;
  run.settings = Settings(nlohmann::json{{"tree", ""}});
  const auto nodes = [&](int cheap_rows, int levels) {
    run.row_costs.cheap_rows = cheap_rows;
    const RankTree tree = rank_tree_of(run, kMedusaTree, levels, "");
    std::size_t count = 0;
    for (const auto& level : tree.levels) count += level.size();
    return count;
  };
  CHECK(nodes(12, 4) == 11);
  CHECK(nodes(33, 4) == 32);
  CHECK(nodes(1000, 4) == 63);
  CHECK(nodes(1000, 3) == 61);
  CHECK(nodes(1, 4) == 1);
  run.row_costs.cheap_rows = 12;
  CHECK(shape(rank_tree_of(run, kMedusaTree, 4, "")) ==
        Lines{"0:0 0:1 0:2 0:3 0:4", "0:0 0:1 1:0 0:2 0:3", "0:0"});
  run.settings.set("tree", "0;0,1");
  CHECK(shape(rank_tree_of(run, kMedusaTree, 4, "")) == Lines{"0:0", "0:1"});
}

TEST_CASE("rank tree: a head's own tree goes before the published one and behind the user's") {
  DraftHead head;
  head.path = "/heads/mine";
  head.config.draft_tree = "0;1;2;0,0;0,0,0";
  RunContext run;
  run.draft_head = &head;
  run.settings = Settings(nlohmann::json{{"tree", ""}});
  run.row_costs.cheap_rows = 33;
  CHECK(shape(rank_tree_of(run, kMedusaTree, 4, "")) == Lines{"0:0 0:1 0:2", "0:0", "0:0"});
  CHECK(shape(rank_tree_of(run, kMedusaTree, 2, "")) == Lines{"0:0 0:1 0:2", "0:0"});
  run.row_costs.cheap_rows = 3;
  CHECK(shape(rank_tree_of(run, kMedusaTree, 4, "")) == Lines{"0:0 0:1"});
  run.settings.set("tree", "3");
  CHECK(shape(rank_tree_of(run, kMedusaTree, 4, "")) == Lines{"0:3"});

  run.settings.set("tree", "");
  run.row_costs.cheap_rows = 33;
  head.config.draft_tree = "0;0,x";
  CHECK(refusal(ErrorCode::kCorruption, [&] { rank_tree_of(run, kMedusaTree, 4, ""); }) ==
        "/heads/mine: config.json: draft_tree: expected paths of ranks such as 0;1;0,0;0,1; found "
        "\"x\" where a rank from 0 to 255 goes");
}

}  // namespace
}  // namespace triescope::test::test_rank_tree
