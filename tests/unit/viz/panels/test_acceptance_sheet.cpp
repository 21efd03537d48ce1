// The bars of several methods under each other, as a study has them.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/acceptance_sheet.h"

namespace triescope::test::test_acceptance_sheet {
namespace {

std::vector<viz::NamedAcceptance> two_methods(viz::AcceptanceBy by) {
  const Capture& run = draft_capture();
  std::vector<viz::NamedAcceptance> methods;
  for (const char* name : {"lookup, short", "lookup, long"})
    methods.push_back(viz::shown_acceptance(
        by, {.name = name, .runs = 2, .acceptance = viz::acceptance_by(run, by, run.end_tick())}));
  return methods;
}

TEST_CASE("acceptance sheet: a bar for each group of each method, all inside") {
  const viz::Scene scene = scene_at(draft_capture(), 0);
  for (int i = 0; i < viz::kAcceptanceByCount; ++i) {
    const auto by = static_cast<viz::AcceptanceBy>(i);
    CAPTURE(to_string(by));
    const auto methods = two_methods(by);
    viz::AcceptanceSheet sheet;
    RecordingCanvas canvas;
    const viz::Rect area{5, 5, 700, viz::AcceptanceSheet::height_em(methods) * scene.em};
    sheet.draw(canvas, area, by, methods, scene);
    CHECK(sheet.bars().size() ==
          methods[0].acceptance.groups.size() + methods[1].acceptance.groups.size());
    CHECK(canvas.ink.bottom() <= area.bottom() + 0.5f);
    CHECK(canvas.ink.right() <= area.right() + 0.5f);
    CHECK(find(canvas, "lookup, short"));
    CHECK(find(canvas, "lookup, long"));
    for (const auto& bar : sheet.bars())
      CHECK(find(canvas, methods[bar.method].acceptance.groups[bar.group].label));
  }
}

TEST_CASE("acceptance sheet: its CSV is that of each method, with the name before it") {
  const auto methods = two_methods(viz::AcceptanceBy::kDepth);
  std::istringstream csv(viz::acceptance_sheet_csv(viz::AcceptanceBy::kDepth, methods));
  std::istringstream one(viz::acceptance_csv(viz::AcceptanceBy::kDepth, methods[0].acceptance));
  std::string line, expected;
  REQUIRE(std::getline(one, expected));
  REQUIRE(std::getline(csv, line));
  CHECK(line == "name," + expected);
  std::size_t rows = 0;
  for (; std::getline(csv, line); ++rows)
    if (rows < methods[0].acceptance.groups.size()) {
      REQUIRE(std::getline(one, expected));
      CHECK(line == "\"lookup, short\"," + expected);
    } else {
      CHECK(line.starts_with("\"lookup, long\","));
    }
  CHECK(rows == 2 * methods[0].acceptance.groups.size());
}

TEST_CASE("acceptance sheet: as a picture it is as large as what it draws") {
  const auto picture =
      viz::make_acceptance_sheet(viz::AcceptanceBy::kRank, two_methods(viz::AcceptanceBy::kRank));
  viz::Scene scene = scene_at(draft_capture(), 0);
  scene.export_mode = true;
  RecordingCanvas canvas;
  const viz::Point extent = picture->extent(canvas, scene);
  picture->draw(canvas, {0, 0, extent.x, extent.y}, scene);
  CHECK(canvas.ink.right() <= extent.x + 0.5f);
  CHECK(canvas.ink.bottom() <= extent.y + 0.5f);
  CHECK(find(canvas, viz::acceptance_headline(viz::AcceptanceBy::kRank)));
}

}  // namespace
}  // namespace triescope::test::test_acceptance_sheet
