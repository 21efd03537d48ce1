// The changes within a stretch of a run.
#include <doctest/doctest.h>

#include <vector>

#include "tests/unit/viz/captures.h"
#include "viz/query/changes.h"
#include "viz/query/leaves.h"

namespace triescope::viz::test_changes {
namespace {

using capture::make_tick;
using capture::NodeState;
using capture::Phase;
using capture::Tick;

TEST_CASE("changes: a node that was hung, or is in another state, changed; the others did not") {
  for (const capture::Capture* run : {&test::beam_capture(), &test::draft_capture()}) {
    std::size_t hung = 0, decided = 0, same = 0;
    for (Tick to = 1; to <= run->end_tick(); ++to) {
      const std::vector<char> changed = changed_nodes(*run, to - 1, to);
      REQUIRE(changed.size() == run->nodes_at(to).size());
      for (std::size_t i = 0; i < changed.size(); ++i) {
        const auto node = static_cast<std::int32_t>(i);
        const bool is_new = run->nodes()[i].tick >= to - 1;
        const bool differs = run->state_at(node, to - 1) != run->state_at(node, to);
        CHECK((changed[i] != 0) == (is_new || differs));
        hung += is_new;
        decided += !is_new && differs;
        same += changed[i] == 0;
      }
    }
    CHECK(hung == run->nodes().size());
    CHECK(decided > 10);
    CHECK(same > 100);
  }
}

TEST_CASE("changes: over a whole step, and over nothing") {
  const capture::Capture& run = test::draft_capture();
  const Tick from = make_tick(4, Phase::kDraft), to = make_tick(5, Phase::kDraft);
  const std::vector<char> changed = changed_nodes(run, from, to);
  std::size_t count = 0;
  for (std::size_t i = 0; i < changed.size(); ++i)
    if (changed[i] != 0) {
      ++count;
      const auto node = static_cast<std::int32_t>(i);
      CHECK(run.state_at(node, from) != run.state_at(node, to));
    }
  CHECK(count > 1);
  for (const char one : changed_nodes(run, to, to)) CHECK(one == 0);
}

TEST_CASE("changes: the text is what lies on the paths in force") {
  const capture::Capture& run = test::beam_capture();
  for (const std::int32_t step : {1, 5, run.last_step()}) {
    const Tick cursor = make_tick(step + 1, Phase::kDraft);
    const auto nodes = nodes_in_text(run, cursor);
    std::size_t on_paths = 0;
    for (const Leaf& leaf : leaves_at(run, cursor))
      for (const std::int32_t node : run.path_to(leaf.node)) {
        CHECK(nodes.contains(node));
        ++on_paths;
      }
    CHECK_FALSE(nodes.empty());
    CHECK(nodes.size() <= on_paths);
    CHECK_FALSE(nodes.contains(0));
  }
  CHECK(nodes_in_text(run, 0).empty());
}

TEST_CASE("changes: of the candidates of beams those with another fate, and all of another step") {
  using Fate = BeamChoice::Fate;
  BeamDecision before;
  before.step = 3;
  before.choices = {{.parent = 1, .token = 5, .fate = Fate::kNext},
                    {.parent = 2, .token = 5, .fate = Fate::kNext},
                    {.parent = 1, .token = 6, .fate = Fate::kOut}};
  BeamDecision now = before;
  CHECK(changed_choices(before, now) == std::vector<char>{0, 0, 0});
  now.choices[1].fate = Fate::kPruned;
  now.choices.push_back({.parent = 2, .token = 6, .fate = Fate::kOut});
  CHECK(changed_choices(before, now) == std::vector<char>{0, 1, 0, 1});
  now.step = 4;
  CHECK(changed_choices(before, now) == std::vector<char>{1, 1, 1, 1});
  CHECK(changed_choices({}, {}).empty());
}

TEST_CASE("changes: of the tokens of a draw the drawn one, and all of another row") {
  DrawDecision before;
  before.step = 3;
  before.node = 9;
  before.tokens.resize(3);
  for (std::int32_t i = 0; i < 3; ++i) before.tokens[static_cast<std::size_t>(i)].token = 10 + i;
  DrawDecision now = before;
  CHECK(changed_draws(before, now) == std::vector<char>{0, 0, 0});
  now.token = 11;
  CHECK(changed_draws(before, now) == std::vector<char>{0, 1, 0});
  now.node = 8;
  CHECK(changed_draws(before, now) == std::vector<char>{1, 1, 1});
  now.node = 9;
  now.step = 4;
  CHECK(changed_draws(before, now) == std::vector<char>{1, 1, 1});
}

}  // namespace
}  // namespace triescope::viz::test_changes
