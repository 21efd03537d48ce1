// The table of families in docs/models.md names what the code reads.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/files/family.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace test_family_table {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

using Names = std::set<std::string>;

// The texts between backticks in a cell, in their order.
std::vector<std::string> names_in(const std::string& cell) {
  std::vector<std::string> names;
  for (std::size_t at = cell.find('`'); at != std::string::npos;) {
    const std::size_t end = cell.find('`', at + 1);
    if (end == std::string::npos) break;
    names.push_back(cell.substr(at + 1, end - at - 1));
    at = cell.find('`', end + 1);
  }
  return names;
}

struct Row {
  std::vector<std::string> types;
  Names architectures;
};

std::vector<Row> rows_of_page() {
  std::istringstream page(read_file(source_dir() / "docs/models.md"));
  std::vector<Row> rows;
  for (std::string line, types, models, architectures;
       std::getline(page, line) && !line.starts_with("## What is checked");) {
    if (!line.starts_with("| `")) continue;
    std::istringstream cells(line.substr(1));
    std::getline(std::getline(std::getline(cells, types, '|'), models, '|'), architectures, '|');
    const auto names = names_in(architectures);
    rows.push_back({names_in(types), Names(names.begin(), names.end())});
    rows.back().architectures.erase("expert_count");  // a key beside one of them
  }
  return rows;
}

// What llama.cpp's converter writes of a family under another one's architecture.
const std::map<std::string, Names> kOfOthers = {{"mistral", {"llama"}},
                                                {"mistral3", {"llama", "mistral3"}},
                                                {"mixtral", {"llama"}},
                                                {"olmo3", {"olmo2"}},
                                                {"granitemoeshared", {"granitemoe"}}};

}  // namespace

TEST_CASE("families: each has one row on the page of models, with its GGUF architectures alone") {
  std::map<std::string, Names> read = kOfOthers;
  for (const Family* family : all_families()) {
    Names& architectures = read[std::string(family->model_type)];
    for (const std::string_view name : family->gguf_names) architectures.emplace(name);
  }
  Names told;
  for (const Row& row : rows_of_page()) {
    Names architectures;
    for (const std::string& type : row.types) {
      CAPTURE(type);
      CHECK(told.insert(type).second);
      REQUIRE(read.contains(type));
      architectures.insert(read[type].begin(), read[type].end());
    }
    CAPTURE(row.types.front());
    CHECK(row.architectures == architectures);
  }
  CHECK(told.size() == read.size());
}

}  // namespace test_family_table
