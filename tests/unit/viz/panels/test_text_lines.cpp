#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/text_lines.h"

namespace triescope::test::test_text_lines {
namespace {

// Records a text of these tokens, one a step.
std::unique_ptr<OpenedCapture> text_of(const std::vector<std::string>& pieces) {
  return make_capture([&](Recorder& out) {
    RowTables rows{.run = synthetic_info(3, "greedy", "", "recycle"), .nodes = {{}}};
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto id = static_cast<std::int32_t>(i) + 1;
      const Tick tick = make_tick(id - 1, Phase::kAccept);
      rows.pieces.push_back({100 + id, pieces[i]});
      rows.nodes.push_back({.node = id,
                            .parent = id - 1,
                            .token = 100 + id,
                            .depth = id,
                            .source = Source::kGreedy,
                            .tick = tick});
      rows.verdicts.push_back({.tick = tick, .node = id, .verdict = Verdict::kEmitted});
      rows.frontier.push_back({.step = id - 1, .node = id});
      rows.phases.push_back({.tick = make_tick(id - 1, Phase::kObserve)});
    }
    out.write(rows);
  });
}

TEST_CASE("text: a character of up to four tokens stands at the node of its last byte") {
  const auto opened = text_of({"a", "\xF0", "\x9F", "\x98", "\x80", "b", "\xC3", "\xA9", "\xE2"});
  RecordingCanvas canvas;
  const viz::Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
  const auto lines = viz::lay_out_text(canvas, 800, scene);
  std::vector<std::pair<std::string, std::int32_t>> text;
  for (const auto& span : lines.spans)
    if (span.node > 0) text.emplace_back(span.text, span.node);
  CHECK(text == std::vector<std::pair<std::string, std::int32_t>>{
                    {"a", 1}, {"😀", 5}, {"b", 6}, {"é", 8}, {"⟨E2⟩", 9}});
}

TEST_CASE("text: another theme lays it out in its own colours") {
  const viz::Rect area{0, 0, 600, 400};
  viz::Scene scene = scene_at(draft_capture(), 150);
  const auto used = viz::make_panel("text"), fresh = viz::make_panel("text");
  drawn(*used, scene, area);
  scene.theme = viz::light_theme();
  CHECK(drawn(*used, scene, area).calls == drawn(*fresh, scene, area).calls);
}

}  // namespace
}  // namespace triescope::test::test_text_lines
