#include <doctest/doctest.h>

#include "tests/support/paths.h"
#include "tests/support/skip.h"

TEST_CASE("a temporary folder exists while it is held and is gone afterwards") {
  std::filesystem::path path;
  {
    triescope::test::TempDir folder;
    path = folder.path();
    CHECK(std::filesystem::is_directory(path));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}
