// The captures that docs/capture.md writes out: the SQL of each, in the order of the page.
#pragma once

#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace triescope::test {

inline std::vector<std::string> documented_captures() {
  const std::string page = read_file(source_dir() / "docs" / "capture.md");
  const std::string fence = "```";
  std::vector<std::string> blocks;
  for (std::size_t at = page.find(fence + "sql\n"); at != std::string::npos;
       at = page.find(fence + "sql\n", at)) {
    at += fence.size() + 4;
    const std::size_t end = page.find(fence, at);
    if (page.compare(at, 21, "PRAGMA application_id") == 0)
      blocks.push_back(page.substr(at, end - at));
    at = end + fence.size();
  }
  return blocks;
}

}  // namespace triescope::test
