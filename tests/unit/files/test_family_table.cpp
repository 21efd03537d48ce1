// The table of families in docs/models.md names what the code reads.
#include <doctest/doctest.h>

#include <set>
#include <sstream>

#include "core/files/family.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace test_family_table {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

// The texts between backticks in a cell.
void add_quoted(const std::string& cell, std::set<std::string>& names) {
  for (std::size_t at = cell.find('`'); at != std::string::npos;) {
    const std::size_t end = cell.find('`', at + 1);
    if (end == std::string::npos) return;
    names.insert(cell.substr(at + 1, end - at - 1));
    at = cell.find('`', end + 1);
  }
}

}  // namespace

TEST_CASE("families: the page of models has a row for each, and no other") {
  std::istringstream page(read_file(source_dir() / "docs/models.md"));
  std::set<std::string> types, architectures, read_types, read_architectures;
  for (std::string line, cell;
       std::getline(page, line) && !line.starts_with("## What is checked");) {
    if (!line.starts_with("| `")) continue;
    std::istringstream cells(line.substr(1));
    std::getline(cells, cell, '|');
    add_quoted(cell, types);
    std::getline(cells, cell, '|');
    std::getline(cells, cell, '|');
    add_quoted(cell, architectures);
  }
  architectures.erase("expert_count");  // a key beside one of them
  for (const Family* family : all_families()) {
    read_types.insert(family->model_type);
    for (const std::string_view name : family->gguf_names)
      read_architectures.insert(std::string(name));
  }
  CHECK(types == read_types);
  CHECK(architectures == read_architectures);
}

}  // namespace test_family_table
