// What a stretch of a run changed.
#include <doctest/doctest.h>

#include "tests/unit/viz/captures.h"
#include "viz/questions/changes.h"
#include "viz/questions/leaves.h"

namespace triescope::viz {
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

}  // namespace
}  // namespace triescope::viz
