// No panel's table shows rows that the cursor has not seen: it equals the table of a run that ended
// at the cursor.
#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "tests/support/sql.h"
#include "tests/unit/app/recorded_run.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/panel.h"

namespace triescope::test::test_panel_tables {
namespace {

// Copies the run without the rows that a cursor here has not seen.
std::unique_ptr<Capture> ended_at(const std::string& run, Tick cursor, const TempDir& dir) {
  const std::string path = dir.path() / "ended.tscap";
  std::filesystem::copy_file(run, path, std::filesystem::copy_options::overwrite_existing);
  const auto drop_from = [&](const char* table, const std::string& tick) {
    run_sql(path, std::string("DELETE FROM ") + table + " WHERE " + tick +
                      " >= " + std::to_string(cursor));
  };
  for (const char* table : {"phase", "node", "node_score", "candidate", "stage", "verdict", "slot",
                            "sequence", "log", "metric"})
    drop_from(table, "tick");
  drop_from("input", "step * 5 + (whose = 'target')");  // a drafter's rows: draft phase
  drop_from("frontier", "step * 5 + 2");
  drop_from("memory", "step * 5 + 3");
  drop_from("step", "step * 5 + 4");
  return Capture::open(path);
}

void check_tables(const char* method, json given) {
  CAPTURE(std::string(method));
  const TempDir dir;
  const std::string path = record({.method = method,
                                   .settings = settings_of(find_method(method), std::move(given)),
                                   .model = chained(),
                                   .max_new_tokens = 6},
                                  dir);
  REQUIRE(!path.empty());
  const auto run = Capture::open(path);
  for (Tick cursor = 1; cursor < run->end_tick(); ++cursor) {
    CAPTURE(cursor);
    const auto ended = ended_at(path, cursor, dir);
    REQUIRE(ended->end_tick() == cursor);
    for (const std::string& name : viz::panel_names()) {
      CAPTURE(name);
      // The step under way lists levels as its draft phase left them.
      if (name == "drafts" && phase_of(cursor) != Phase::kDraft) continue;
      // A drafter whose rows come later cannot be chosen yet.
      for (const Whose whose : ended->owners()) {
        // Before a drafter's first slot its peak KV is 0 in a run that records slots, and unknown
        // otherwise.
        if (name == "memory" && whose != Whose::kTarget && cursor <= make_tick(1, Phase::kDraft))
          continue;
        for (const bool exported : {false, true})
          for (const bool within : {false, true})
            for (const std::int32_t focus : {-1, ended->nodes().back().node}) {
              CAPTURE(to_string(whose));
              CAPTURE(exported);
              CAPTURE(within);
              CAPTURE(focus);
              const auto table_of = [&](const Capture& capture) {
                const auto panel = viz::make_panel(name);
                if (whose != Whose::kTarget)
                  panel->set_view_state("whose=" + std::string(to_string(whose)));
                viz::Scene scene = scene_at(capture, cursor);
                scene.export_mode = exported;
                if (within) scene.range = {1, 3};
                scene.focus.locked = focus;
                return panel->csv(scene);
              };
              CHECK(table_of(*run) == table_of(*ended));
            }
      }
    }
  }
}

TEST_CASE("panel tables: none holds what the cursor has not seen") {
  check_tables("greedy", {});
  check_tables("sample", {{"temperature", 1.5}});
  for (const char* policy : {"batch", "keep", "compact", "recycle"})
    check_tables("beam", {{"num_beams", 3}, {"kv", policy}, {"gc_every", 3}});
  check_tables("ngram_trie", {});
  check_tables("lookahead", {});
  check_tables("draft_model", {});
  check_tables("eagle2", {});
}

}  // namespace
}  // namespace triescope::test::test_panel_tables
