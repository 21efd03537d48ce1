#include "app/window/shell/search_rank.h"

#include <doctest/doctest.h>

namespace triescope::app::test_search_rank {
namespace {

// The better title of two for a query, 1 or 2; 0 = alike.
int better(const char* query, const char* one, const char* other) {
  const auto a = search_rank(query, one), b = search_rank(query, other);
  REQUIRE(a);
  REQUIRE(b);
  return *a < *b ? 1 : *a > *b ? 2 : 0;
}

TEST_CASE("search: the title's beginning, then a word's, then anywhere in it") {
  CHECK(better("export", "Export a panel", "Cancel export") == 1);
  CHECK(better("port", "Porting", "Export a panel") == 1);
  CHECK(better("port", "The port", "Export a panel") == 1);
  CHECK(better("run", "Run / pause", "run bar") == 0);
  CHECK_FALSE(search_rank("exporting", "Export a panel"));
}

TEST_CASE("search: a title comes before other words, and those before parts of words") {
  CHECK(*search_rank("html", "A html page") < *search_rank("html", "A page", "html"));
  CHECK(*search_rank("spec", "drafts", "speculative") <
        *search_rank("ulat", "drafts", "speculative"));
  CHECK_FALSE(search_rank("json", "A page", "html"));
}

TEST_CASE("search: words of a query are found in any order, a hyphen is a space, case is none") {
  CHECK(search_rank("run save", "Save the run as data"));
  CHECK(search_rank("save data", "Save the run as data"));
  CHECK_FALSE(search_rank("save tree", "Save the run as data"));
  CHECK(search_rank("top k", "top-k") == search_rank("top-k", "top-k"));
  CHECK(search_rank("TOP-K", "top-k"));
  CHECK(search_rank("  run ", "Run"));
  CHECK(search_rank("", "anything") == 0);
  CHECK(search_rank("  ", "anything") == 0);
}

TEST_CASE("search: a letter of another alphabet is a part of its word") {
  CHECK(*search_rank("log", "Σ log p") < *search_rank("log", "Σlog"));
}

}  // namespace
}  // namespace triescope::app::test_search_rank
