// triescope RUN --open: a finding's link opens its place; a name that is no place in the run is
// refused.
#include <doctest/doctest.h>

#include <string>

#include "app/window/workspace/open_place.h"
#include "app/window/workspace/workspace.h"
#include "core/base/error.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"

namespace triescope::app::test_open_place {
namespace {

using namespace triescope::capture;

// A run of three steps after a prompt of two tokens; node k comes in step k - 1.
struct PlacesDesk {
  test::TempDir folder;
  Workspace workspace{Preferences{}, [] {}};

  PlacesDesk() {
    const std::string path = (folder.path() / "run.tscap").string();
    {
      const auto recorder = open_recorder(path);
      RowTables rows;
      rows.run = RunInfo{};
      rows.run->method = "made";
      rows.run->prompt_tokens = {1, 2};
      rows.nodes.push_back({.node = 0, .parent = -1});
      for (std::int32_t node = 1; node <= 3; ++node)
        rows.nodes.push_back({.node = node,
                              .parent = node - 1,
                              .token = 10 + node,
                              .depth = node,
                              .tick = make_tick(node - 1, Phase::kAccept)});
      for (Tick tick = 0; tick < make_tick(3, Phase::kDraft); ++tick)
        rows.phases.push_back({.tick = tick, .start_us = tick, .duration_us = 1});
      rows.finish = Finish{};
      recorder->write(rows);
    }
    workspace.documents.open(path);
    REQUIRE(workspace.log.problems.empty());
  }
  Document& run() { return *workspace.active(); }
  void open(const std::string& place) { open_place(workspace.documents, run(), place); }
  std::string refused(const std::string& place, ErrorCode code) {
    try {
      open(place);
    } catch (const Error& error) {
      CHECK(error.code() == code);
      return error.what();
    }
    FAIL("not refused");
    return "";
  }
};

TEST_CASE_FIXTURE(PlacesDesk, "a place: behind its step, with its node selected") {
  open("step/1/node/2");
  CHECK(run().cursor == make_tick(2, Phase::kDraft));
  CHECK(run().focus.locked == 2);
  CHECK_FALSE(run().follow);
  open("step/0");
  CHECK(run().cursor == make_tick(1, Phase::kDraft));
  open("step/2/node/-3");
  CHECK(run().cursor == run().capture->end_tick());
  CHECK(run().focus.locked == -3);
  open("node/1");  // behind the step that added the node
  CHECK(run().cursor == make_tick(1, Phase::kDraft));
  CHECK(run().focus.locked == 1);
}

TEST_CASE_FIXTURE(PlacesDesk, "a place that the run lacks: it says what there is, and stays") {
  open("step/1/node/2");
  const auto has = [](const std::string& text, const char* part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  has(refused("step/3", ErrorCode::kNotFound), "has no step 3; its steps are 0 to 2");
  has(refused("step/1/node/9", ErrorCode::kNotFound), "has no node 9; its nodes are 0 to 3");
  has(refused("node/-4", ErrorCode::kNotFound), "its prompt's tokens -2 down to -3");
  refused("node/-1", ErrorCode::kNotFound);
  has(refused("step/0/node/3", ErrorCode::kNotFound),
      "has no node 3 yet in step 0: it comes in step 2");
  for (const char* rubbish : {"step", "step/", "step/x", "step/1x", "node/2/step/1", "12",
                              "step/1/slot/2", "node/1/node/2", "step/1/", "step/99999999999"}) {
    CAPTURE(rubbish);
    has(refused(rubbish, ErrorCode::kInvalidArgument), "step/12/node/57");
  }
  CHECK(run().cursor == make_tick(2, Phase::kDraft));
  CHECK(run().focus.locked == 2);
}

}  // namespace
}  // namespace triescope::app::test_open_place
