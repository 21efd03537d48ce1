// The captures that docs/capture.md writes in SQL are valid captures as they stand, and every panel
// draws them.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/schema.h"
#include "tests/support/documented_captures.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/sql.h"
#include "viz/export/export.h"
#include "viz/export/run_data.h"
#include "viz/narration/narration.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"
#include "viz/panels/panel.h"
#include "viz/panels/panel_rows.h"

namespace triescope::viz::test_documented_captures {
namespace {

using namespace triescope::capture;

struct Written {
  test::TempDir dir;
  std::unique_ptr<Capture> capture;
  explicit Written(std::size_t example) {
    const std::string path = dir.path() / "run.tscap";
    const auto blocks = test::documented_captures();
    REQUIRE(blocks.size() > example);
    test::run_sql(path, blocks[example]);
    capture = Capture::open(path);
  }
  std::string told(int step, Phase phase) const {
    return narration_as_text(narrate(*capture, make_tick(step, phase) + 1, Sentences::standard()));
  }
};

TEST_CASE("documented captures: each is told at every cursor and drawn in every panel") {
  for (std::size_t example = 0; example < 3; ++example) {
    CAPTURE(example);
    const Written written(example);
    CHECK(written.capture->end_tick() == 10);
    for (Tick cursor = 0; cursor <= 10; ++cursor)
      CHECK_FALSE(
          narration_as_text(narrate(*written.capture, cursor, Sentences::standard())).empty());
    for (const std::string& panel : panel_names())
      for (const ExportFormat format : {ExportFormat::kSvg, ExportFormat::kCsv}) {
        CAPTURE(panel);
        ExportOptions options;
        options.format = format;
        const std::string out = written.dir.path() / "out";
        export_panel(*written.capture, panel, out, options);
        CHECK_FALSE(test::read_file(out).empty());
      }
  }
}

TEST_CASE("documented captures: as data each line is JSON, what was not told is null") {
  for (std::size_t example = 0; example < 3; ++example) {
    const Written written(example);
    const auto first = nlohmann::json::parse(step_line(*written.capture, 0, true));
    CHECK(first["run"]["versions"].is_null());
    CHECK_FALSE(first["run"]["method"].is_null());
    CHECK(nlohmann::json::parse(step_line(*written.capture, 1, false)).is_object());
  }
}

TEST_CASE("documented captures: greedy decoding") {
  const Written greedy(0);
  const Capture& run = *greedy.capture;
  CHECK(run.run().prompt_tokens == std::vector<std::int32_t>{1, 2, 3});
  CHECK(run.piece(run.nodes()[2].token) == " is");
  CHECK(run.state_at(2, 10) == NodeState::kLive);
  CHECK(greedy.told(1, Phase::kAccept).find("The argmax is '·is'") != std::string::npos);
  using Names = std::vector<std::string>;
  const auto named = [](const char* name) { return make_panel(name)->info(); };
  CHECK(missing_tables(run, named("kv")) == Names{"slot"});
  CHECK(missing_tables(run, named("mask")) == Names{"input"});
  CHECK(missing_tables(run, named("trie")).empty());
  CHECK(missing_rows_text(run, named("trie")) == "");
  CHECK(missing_rows_text(run, named("kv")) ==
        "The capture has no rows in slot: triescope writes them with --capture-level full, "
        "another recorder as docs/capture.md says.");
}

TEST_CASE("documented captures: beam search") {
  const Written beams(1);
  const Capture& run = *beams.capture;
  CHECK(run.run().kind == RunKind::kBeams);
  CHECK(run.state_at(2, 10) == NodeState::kPruned);
  CHECK(run.state_at(3, 10) == NodeState::kLive);
  CHECK(beams.told(1, Phase::kAccept).find("its best continuation came third") !=
        std::string::npos);
}

TEST_CASE("documented captures: a drafted tree") {
  const Written tree(2);
  const Capture& run = *tree.capture;
  CHECK(run.state_at(3, 10) == NodeState::kAccepted);
  CHECK(run.state_at(4, 10) == NodeState::kRejected);
  CHECK(run.state_at(6, 10) == NodeState::kCorrected);
  CHECK(run.source_of(run.nodes()[4]) == "small-1b");
  CHECK(run.program().command == "serve --draft small-1b");
  CHECK(run.slot_at(5, 10).state == SlotState::kFree);
  CHECK(run.metrics().size() == 1);
  CHECK(run.inputs(1)[4].naive_position == 3);
  CHECK(tree.told(1, Phase::kForward).find("Counted as it lies") == std::string::npos);
  CHECK(tree.told(1, Phase::kDraft).find("Small 1B, a second model,") != std::string::npos);
  CHECK(run.visible(run.inputs(1)[2], 2));
  CHECK_FALSE(run.visible(run.inputs(1)[4], 2));
}

TEST_CASE("panel rows: every panel says which rows it draws, of tables that there are") {
  for (const PanelInfo& panel : panel_infos()) {
    CAPTURE(panel.name);
    CHECK(panel.rows.empty() ==
          (panel.name == "inspector" || panel.name == "summary" || panel.name == "doctor"));
    for (const std::string& table : panel.rows)
      CHECK(std::ranges::find(tables(), table, &Table::name) != tables().end());
  }
}

}  // namespace
}  // namespace triescope::viz::test_documented_captures
