#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/unit/viz/captures.h"
#include "viz/panels/mask_rows.h"

namespace triescope::viz::test_mask_rows {
namespace {

Scene scene_at(const capture::Capture& run, capture::Tick cursor) {
  Scene scene;
  scene.capture = &run;
  scene.cursor = cursor;
  return scene;
}

TEST_CASE("mask rows: the inputs of the shown step once its forward has run, and not before") {
  const capture::Capture& run = test::draft_capture();
  for (std::int32_t step = 0; step <= run.last_step(); ++step) {
    CAPTURE(step);
    MaskRows mask;
    const capture::Tick forward = capture::make_tick(step, capture::Phase::kForward);
    if (step > 0) CHECK_FALSE(mask.update(RowSource{}, scene_at(run, forward), false));
    const bool any = mask.update(RowSource{}, scene_at(run, forward + 1), false);
    CHECK(any == (step > 0));  // prefill's rows are the prompt's
    std::vector<std::int32_t> expected, found;
    for (const capture::InputRow& row : run.inputs(step))
      if (row.node > 0) expected.push_back(row.node);
    for (const capture::InputRow& row : mask.rows) found.push_back(row.node);
    CHECK(found == expected);
  }
}

TEST_CASE("mask rows: columns hold KV while the forward runs, by path or by slot") {
  for (const capture::Capture* run : {&test::beam_capture(), &test::draft_capture()})
    for (std::int32_t step = 1; step <= run->last_step(); ++step) {
      CAPTURE(step);
      const capture::Tick after = capture::make_tick(step, capture::Phase::kForward) + 1;
      std::set<std::int32_t> holding;
      for (std::int32_t slot = 0; slot < run->slot_count_at(after); ++slot) {
        const capture::SlotView view = run->slot_at(slot, after);
        if (view.state != capture::SlotState::kFree && view.node > 0) holding.insert(view.node);
      }
      for (const capture::InputRow& row : run->inputs(step)) holding.insert(row.node);
      MaskRows by_path, by_slot;
      REQUIRE(by_path.update(RowSource{}, scene_at(*run, after), false));
      REQUIRE(by_slot.update(RowSource{}, scene_at(*run, after), true));
      CHECK(std::set<std::int32_t>(by_path.columns.begin(), by_path.columns.end()) == holding);
      CHECK(by_path.columns.size() == holding.size());  // one column a node
      CHECK(by_slot.columns.size() == holding.size());
      CHECK(std::is_permutation(by_slot.columns.begin(), by_slot.columns.end(),
                                by_path.columns.begin(), by_path.columns.end()));
      for (std::size_t i = 0; i < by_path.columns.size(); ++i)
        for (std::size_t k = i + 1; k < by_path.columns.size(); ++k) {
          const auto path = run->path_to(by_path.columns[i]);
          CHECK(std::find(path.begin(), path.end(), by_path.columns[k]) == path.end());
        }
      std::vector<std::int32_t> slots;
      for (const std::int32_t node : by_slot.columns) slots.push_back(run->slot_of(node, after));
      CHECK(std::is_sorted(slots.begin(), slots.end()));
    }
}

TEST_CASE("mask rows: the table says which nodes a row sees") {
  const capture::Capture& run = test::draft_capture();
  const std::int32_t step = 5;
  const Scene scene = scene_at(run, capture::make_tick(step + 1, capture::Phase::kDraft));
  std::string expected = "step,row,node,position,slot,sees_prompt,visible_nodes\n";
  MaskRows mask;
  REQUIRE(mask.update(RowSource{}, scene, false));
  for (const capture::InputRow& row : mask.rows) {
    expected += std::to_string(row.step) + "," + std::to_string(row.row) + "," +
                std::to_string(row.node) + "," + std::to_string(row.position) + "," +
                std::to_string(row.slot) + ",1,";
    std::string seen;
    for (const std::int32_t node : run.path_to(row.node))
      seen += (seen.empty() ? "" : " ") + std::to_string(node);
    expected += seen + "\n";
  }
  CHECK(mask_csv(RowSource{}, scene, false) == expected);
}

}  // namespace
}  // namespace triescope::viz::test_mask_rows
