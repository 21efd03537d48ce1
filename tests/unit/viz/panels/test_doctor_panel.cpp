// The doctor's panel: its list for a run with faults and for one without, and where a click leads.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/unit/doctor/made_run.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"

namespace triescope::test::test_doctor_panel {
namespace {

// A run whose drafts have positions one too large in every step.
const Capture& faulty() {
  static const auto opened = make_capture([](Recorder& out) {
    MadeRun made = made_drafts();
    for (InputRow& row : made.rows.inputs)
      for (std::size_t step = 1; step < made.of_step.size(); ++step)
        if (row.node == made.of_step[step].a) ++row.position;
    out.write(made.rows);
  });
  return *opened->capture;
}
const Capture& right_run() {
  static const auto opened = make_capture([](Recorder& out) { out.write(made_drafts().rows); });
  return *opened->capture;
}

const RecordingCanvas::Text* beginning(const RecordingCanvas& canvas, const std::string& with) {
  for (const auto& one : canvas.texts)
    if (one.text.starts_with(with)) return &one;
  return nullptr;
}

constexpr viz::Rect kArea{0, 0, 900, 400};

TEST_CASE("doctor: a fault stands with its code, how sure it is, and in how many steps it is") {
  const auto panel = viz::make_panel("doctor");
  const viz::Scene scene = scene_at(faulty(), faulty().end_tick());
  const auto canvas = drawn(*panel, scene, kArea);
  CHECK(find(canvas, "1 finding."));
  const auto* head = beginning(canvas, "position.depth: ");
  REQUIRE(head);
  CHECK(head->text.ends_with("(certain)"));
  CHECK(beginning(canvas, "The row of node "));
  const auto where = std::find_if(canvas.texts.begin(), canvas.texts.end(), [](const auto& text) {
    return text.text.find("5 times in 5 steps, first at step 1") != std::string::npos;
  });
  CHECK(where != canvas.texts.end());
  CHECK(panel->csv(scene).find("\nposition.depth,certain,1,") != std::string::npos);
}

TEST_CASE("doctor: a click goes behind the step where a fault first is, and takes its node") {
  const auto panel = viz::make_panel("doctor");
  const viz::Scene scene = scene_at(faulty(), 3);
  const auto canvas = drawn(*panel, scene, kArea);
  const auto* head = beginning(canvas, "position.depth: ");
  REQUIRE(head);
  viz::Input in = mouse_over(*head);
  CHECK_FALSE(panel->input(in, kArea, scene).cursor);
  in.clicked = true;
  const viz::Reaction reaction = panel->input(in, kArea, scene);
  CHECK(reaction.cursor == make_tick(2, Phase::kDraft));
  CHECK(reaction.lock == 2);
  REQUIRE_FALSE(reaction.tooltip.empty());
  CHECK(reaction.tooltip[0].starts_with("Rule: "));
  // A second click does not unlock the node.
  viz::Scene locked = scene;
  locked.focus.locked = 2;
  CHECK_FALSE(panel->input(in, kArea, locked).lock);
}

TEST_CASE("doctor: a right run says that nothing was found, and what was checked") {
  const auto panel = viz::make_panel("doctor");
  const viz::Scene scene = scene_at(right_run(), 0);
  const auto canvas = drawn(*panel, scene, kArea);
  CHECK(find(canvas, "Nothing found."));
  CHECK(beginning(canvas, "Checked: masks, positions,"));
}

TEST_CASE("doctor: families without rows are named") {
  const auto opened = make_capture([](Recorder& out) {
    RowTables rows = made_drafts().rows;
    rows.seen.clear();
    out.write(rows);
  });
  const auto panel = viz::make_panel("doctor");
  const auto canvas = drawn(*panel, scene_at(*opened->capture, 0), kArea);
  CHECK(find(canvas, "Not checked: masks: no rows in seen"));
}

}  // namespace
}  // namespace triescope::test::test_doctor_panel
