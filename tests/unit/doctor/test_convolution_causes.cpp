// With a model of short convolutions: a row that sees what it should not is named as one of attention alone is, and
// its convolutions take the columns of its own path meanwhile.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/doctor/causes_place.h"

namespace triescope::test::test_convolution_causes {
namespace {

using namespace causes;

// The rows of `node`, and before its own, which does not see them, those of `other` that are not on its path.
std::vector<Row> with_foreign(const RunView& run, std::int32_t node, std::int32_t other) {
  auto rows = rows_of(run, node);
  const Row self = rows.back();
  rows.pop_back();
  std::int32_t above = other;
  while (above > 0 && !run.is_on_path(above, node)) above = run.parent(above);
  const auto foreign = rows_of(run, other);
  std::vector<std::int32_t> sees = foreign[rows_of(run, above).size()].sees;
  for (std::size_t i = sees.size(); i < foreign.size(); ++i) {
    rows.push_back(foreign[i]);
    rows.back().sees = sees;
    sees.push_back(static_cast<std::int32_t>(rows.size()) - 1);
  }
  rows.push_back(self);
  return rows;
}

}  // namespace

TEST_CASE("doctor with convolutions: no finding in a run without a mistake") {
  Place place(Layers::kConvolutions);
  place.decode();
  CHECK(place.found().empty());
}

TEST_CASE("doctor with convolutions: a sibling that attention sees beside the path") {
  Place place(Layers::kConvolutions);
  place.decode();
  const auto capture = Capture::open(place.path);
  const RunView run(*capture);
  REQUIRE_FALSE(siblings(*capture).empty());
  const auto [first, second] = siblings(*capture).front();
  auto rows = with_foreign(run, second, first);
  // A convolution takes the end of the list.
  std::vector<std::int32_t>& sees = rows.back().sees;
  sees.insert(sees.begin(), static_cast<std::int32_t>(rows.size()) - 2);
  place.plant(second, place.logits(rows));
  CHECK(contains(place.cause(), "a sibling is seen: node " + std::to_string(first)));
}

TEST_CASE("doctor with convolutions: a slot of the path that still holds a refused draft's state") {
  Place place(Layers::kConvolutions);
  place.decode();
  const auto capture = Capture::open(place.path);
  const RunView run(*capture);
  // A recorded row of a later step, one of the last two before it on its path, and a draft that had its slot before.
  std::int32_t node = -1, above = -1, former = -1;
  for (std::int32_t step = 2; step <= capture->last_step(); ++step)
    for (const InputRow& row : capture->inputs(step)) {
      if (row.node <= 0 || capture->candidates(row.node, capture->end_tick()).empty()) continue;
      const Tick now = make_tick(step, Phase::kForward) + 1;
      const std::int32_t parent = run.parent(row.node);
      for (const std::int32_t one : {parent, parent > 0 ? run.parent(parent) : -1}) {
        const std::int32_t slot = one > 0 ? capture->slot_of(one, now) : -1;
        for (const SlotRow& event : capture->slot_events(Whose::kTarget))
          if (slot >= 0 && event.slot == slot && event.node > 0 && event.node != one &&
              event.tick < now && !run.is_on_path(event.node, row.node))
            node = row.node, above = one, former = event.node;
      }
    }
  REQUIRE(node > 0);
  auto rows = with_foreign(run, node, former);
  std::ranges::replace(rows.back().sees, run.position(above),
                       static_cast<std::int32_t>(rows.size()) - 2);
  place.plant(node, place.logits(rows));
  CHECK(contains(place.cause(), "stale KV: the slot of node " + std::to_string(above) + " ("));
}

}  // namespace triescope::test::test_convolution_causes
