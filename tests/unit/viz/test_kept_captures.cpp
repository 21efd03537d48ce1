// Kept captures give the same exports as the program that recorded them.
#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "tests/support/files.h"
#include "tests/support/fixtures.h"
#include "viz/export/export.h"
#include "viz/panels/panel.h"

namespace triescope::test::test_kept_captures {
namespace {

TEST_CASE("kept captures: the CSV of every panel is what it was, to the byte") {
  const TempDir dir;
  const std::string out = dir.path() / "out.csv";
  for (const char* name : kKeptCaptures) {
    CAPTURE(name);
    const auto capture = capture::Capture::open(copy_of_capture(name, dir));
    std::istringstream kept(read_file(captures_folder() / (std::string(name) + ".csv")));
    std::string line, panel, word, expected;
    int step = -1;
    std::size_t compared = 0;
    const auto compare = [&] {
      if (panel.empty()) return;
      CAPTURE(panel);
      CAPTURE(step);
      viz::ExportOptions options;
      options.format = viz::ExportFormat::kCsv;
      options.step = step;
      viz::export_panel(*capture, panel, out, options);
      CHECK(read_file(out) == expected);
      ++compared;
    };
    while (std::getline(kept, line)) {
      if (!line.starts_with("=== panel ")) {
        expected += line + "\n";
        continue;
      }
      compare();
      expected.clear();
      std::istringstream(line) >> word >> word >> panel >> word >> word >> step;
    }
    compare();
    CHECK(compared == 22);  // eleven panels, two steps
  }
}

}  // namespace
}  // namespace triescope::test::test_kept_captures
