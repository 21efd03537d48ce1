// Scripts, and the commands that they share with lessons.
#include <doctest/doctest.h>

#include <fstream>

#include "app/window/commands.h"
#include "app/window/script.h"
#include "core/base/error.h"
#include "tests/support/paths.h"

namespace triescope::app::test_script {
namespace {

// The message with which `act` is refused.
template <class Act>
std::string refusal(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("script: a script's error names its line, a lesson's command has none to name") {
  Workspace workspace{Preferences{}, [] {}};
  UiState ui;
  const CommandTable commands{workspace, ui};
  ScriptHost host{workspace, ui, commands, {}, {}, {}};
  const test::TempDir dir;
  const std::string path = dir.path() / "demo.script";
  const std::string none = "no capture is open: start a run or open a file first";
  std::ofstream(path) << "# nothing is open\ncursor 3\nbookmark\nwait ms soon\n";
  Script script(path, commands);
  const auto run = [&] { run_script_line(script, host); };
  CHECK(refusal(run) == path + ":2: " + none);
  script.advance();
  CHECK(refusal(run) == path + ":3: 'bookmark' is not possible now");
  script.advance();
  CHECK(refusal(run) == path + ":4: expected a number, found 'soon'");
  CHECK(refusal([&] { run_command({"cursor", "3"}, host); }) == none);
  CHECK(refusal([&] { run_command({"cursor"}, host); }) ==
        "cursor: expected STEP [draft|forward|accept|commit|observe]");
}

}  // namespace
}  // namespace triescope::app::test_script
