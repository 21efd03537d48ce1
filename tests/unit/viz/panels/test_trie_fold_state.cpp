// The user's folds in the trie, and how they are remembered.
#include <doctest/doctest.h>

#include "tests/unit/viz/captures.h"
#include "viz/panels/trie_input.h"

namespace triescope::viz::test_trie_fold_state {
namespace {

TEST_CASE("trie folds: the button goes auto, all, none and round again, a version each") {
  TrieFoldState folds;
  CHECK(std::string(mode_name(folds.options.mode)) == "auto");
  next_mode(folds);
  CHECK(std::string(mode_name(folds.options.mode)) == "all");
  next_mode(folds);
  CHECK(std::string(mode_name(folds.options.mode)) == "none");
  next_mode(folds);
  CHECK(std::string(mode_name(folds.options.mode)) == "auto");
  CHECK(folds.version == 3);
}

TEST_CASE("trie folds: a plain item closes and opens again, a folded one is opened") {
  const capture::Capture& run = test::beam_capture();
  using Nodes = std::unordered_set<std::int32_t>;
  TrieFoldState folds;
  const TrieItem plain{.node = 5, .last = 5};
  toggle(folds, plain, run);
  CHECK(folds.options.closed == Nodes{5});
  CHECK(folds.version == 1);
  toggle(folds, plain, run);
  CHECK(folds.options.closed.empty());
  CHECK(folds.version == 2);
  toggle(folds, {.node = 7, .last = 7, .hidden_dead = 3}, run);
  CHECK(folds.options.opened == Nodes{7});
  toggle(folds, {.node = 7, .last = 7}, run);  // it was opened before, so the mode decides again
  CHECK(folds.options.opened.empty());
  CHECK(folds.options.closed.empty());
  // A run with hidden dead branches along it opens at every node of the run.
  const auto path = run.path_to(static_cast<std::int32_t>(run.nodes().size()) - 1);
  REQUIRE(path.size() > 4);
  toggle(folds, {.node = path[1], .run = 3, .last = path[3], .hidden_dead = 1}, run);
  CHECK(folds.options.opened == Nodes{path[1], path[2], path[3]});
  folds.options.opened.clear();
  toggle(folds, {.node = path[1], .run = 3, .last = path[3]}, run);
  CHECK(folds.options.opened == Nodes{path[1]});
}

TEST_CASE("trie view state: written in one form, and read back within its limits") {
  TrieFoldState folds;
  TrieView view;
  CHECK(trie_view_state(folds, view) == "mode=auto;zoom=1.000");
  folds.options.mode = FoldMode::kNone;
  folds.options.closed = {12, 3};
  folds.options.opened = {7};
  view.zoom = 0.25f;
  const std::string state = trie_view_state(folds, view);
  CHECK(state == "mode=none;zoom=0.250;closed=3,12;opened=7");
  TrieFoldState other;
  TrieView seen;
  set_trie_view_state(state, other, seen);
  CHECK(other.options.mode == FoldMode::kNone);
  CHECK(other.options.closed == folds.options.closed);
  CHECK(other.options.opened == folds.options.opened);
  CHECK(seen.zoom == 0.25f);
  CHECK(other.version == 1);
  set_trie_view_state("zoom=4.001", other, seen);
  CHECK(seen.zoom == 0.25f);
  set_trie_view_state("zoom=0.0039", other, seen);
  CHECK(seen.zoom == 0.25f);
  set_trie_view_state("zoom=4;mode=all", other, seen);
  CHECK(seen.zoom == 4);
  CHECK(other.options.mode == FoldMode::kAll);
  CHECK(other.options.closed.empty());
  view.fit();
  CHECK(trie_view_state(folds, view) == "mode=none;zoom=0.250;fit=1;closed=3,12;opened=7");
  set_trie_view_state("zoom=1;fit=1", other, seen);
  CHECK(seen.mode == TrieView::Mode::kFit);
}

}  // namespace
}  // namespace triescope::viz::test_trie_fold_state
