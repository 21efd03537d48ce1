// The experts of a mixture's rows: written, read, refused where they contradict themselves.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/capture/capture.h"
#include "core/capture/row_types.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/support/sql.h"
#include "tests/unit/capture/sample_run.h"

namespace triescope::test::test_expert_rows {
namespace {

std::string recorded(const TempDir& dir, Level level = Level::kFull) {
  const std::string path = dir.path() / "run.tscap";
  const auto recorder = open_recorder(path, {.level = level});
  RowTables rows{.run = sample_info()};
  rows.nodes = {{}};
  rows.experts = {{.tick = 1, .node = 0, .layer = 0, .experts = {1, 5}, .weights = {0.1f, 0.9f}},
                  {.tick = 1, .node = 0, .layer = 3, .experts = {2}, .weights = {}},
                  {.tick = 6, .node = 0, .layer = 0, .experts = {0, 7}, .weights = {0.5f, 0.5f}}};
  rows.finish = Finish{};
  recorder->write(rows);
  return path;
}

TEST_CASE("expert rows: they come back by step, with the same bits") {
  const TempDir dir;
  const auto c = Capture::open(recorded(dir));
  REQUIRE(c->experts(0).size() == 2);
  CHECK(c->experts(0)[0].experts == std::vector<std::int32_t>{1, 5});
  CHECK(c->experts(0)[0].weights == std::vector<float>{0.1f, 0.9f});
  CHECK(c->experts(0)[1].layer == 3);
  CHECK(c->experts(0)[1].weights.empty());
  REQUIRE(c->experts(1).size() == 1);
  CHECK(c->experts(1)[0].tick == 6);
  CHECK(c->experts(2).empty());
  CHECK(c->rows_in("expert") == 3);
}

TEST_CASE("expert rows: a slice has those of its steps") {
  const TempDir dir;
  const std::string path = recorded(dir), part = dir.path() / "part.tscap";
  run_sql(path, "INSERT INTO phase (tick, start_us, duration_us) VALUES (4, 0, 0), (9, 0, 0)");
  save_slice(path, part, 1, 1);
  CHECK(Capture::open(part)->rows_in("expert") == 1);
}

TEST_CASE("expert rows: what no recorder writes is refused, with table and column") {
  for (const auto& [sql, part] :
       {std::pair("UPDATE expert SET weights='[0.5]' WHERE id=1",
                  "weights: expected 2, one for each expert, found 1"),
        {"UPDATE expert SET weights='[nan]' WHERE id=2", "weights: expected finite numbers"},
        {"UPDATE expert SET weights='[1e999]' WHERE id=2", "weights: expected finite numbers"},
        {"UPDATE expert SET weights='0.5' WHERE id=2", "weights: expected finite numbers"},
        {"UPDATE expert SET experts='[-1]' WHERE id=2", "experts: expected 0 to"},
        {"UPDATE expert SET experts=NULL WHERE id=2", "experts"},
        {"UPDATE expert SET layer=100000 WHERE id=2", "layer: expected 0 to 65536"},
        {"UPDATE expert SET node=4 WHERE id=2", "node: expected 0 to 0"},
        {"UPDATE expert SET tick=0 WHERE id=2", "tick: expected 1 or later"}}) {
    const TempDir dir;
    const std::string path = recorded(dir);
    CAPTURE(sql);
    run_sql(path, std::string("PRAGMA ignore_check_constraints=ON; ") + sql);
    try {
      Capture::open(path);
      FAIL_CHECK("was opened");
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(error.code() == ErrorCode::kCorruption);
      CHECK(std::string(error.what()).find(part) != std::string::npos);
    }
  }
}

TEST_CASE("expert rows: weights may be missing, and a file without the table has none") {
  const TempDir dir;
  const std::string path = recorded(dir);
  run_sql(path, "UPDATE expert SET weights=NULL");
  CHECK(Capture::open(path)->experts(0)[0].weights.empty());
  run_sql(path, "DROP TABLE expert");
  CHECK(Capture::open(path)->experts(0).empty());
}

}  // namespace
}  // namespace triescope::test::test_expert_rows
