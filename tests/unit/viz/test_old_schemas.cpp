// Captures of schema 1 export today what the program exported that recorded them.
#include <doctest/doctest.h>

#include <span>
#include <sstream>
#include <string>

#include "tests/support/files.h"
#include "tests/support/fixtures.h"
#include "viz/export/export.h"
#include "viz/panels/panel.h"

namespace triescope::test::test_old_schemas {
namespace {

void check_exports(int schema, std::span<const char* const> names) {
  const TempDir dir;
  const std::string out = dir.path() / "out.csv";
  for (const char* name : names) {
    CAPTURE(name);
    const auto capture = capture::Capture::open(copy_of_capture(schema, name, dir));
    CHECK(capture->schema() == schema);
    std::istringstream kept(read_file(captures_folder(schema) / (std::string(name) + ".csv")));
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

TEST_CASE("schema 1: the CSV of every panel is what it was, to the byte") {
  check_exports(1, kSchema1Captures);
}

TEST_CASE("schema 2: the CSV of every panel is what it was, to the byte") {
  check_exports(2, kSchema2Captures);
}

}  // namespace
}  // namespace triescope::test::test_old_schemas
