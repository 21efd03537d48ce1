#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tests/support/environment.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"

TEST_CASE("support: a temporary folder exists while it is held and is gone afterwards") {
  std::filesystem::path path;
  {
    triescope::test::TempDir folder;
    path = folder.path();
    CHECK(std::filesystem::is_directory(path));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("support: an environment variable is what it was before once it is no longer held") {
  using triescope::test::EnvironmentVariable;
  const char* const name = "TRIESCOPE_TEST_VARIABLE";
  const auto value = [&] {
    const char* const now = std::getenv(name);
    return now ? std::string(now) : "not set";
  };
  CHECK(value() == "not set");
  {
    const EnvironmentVariable one(name, "one");
    CHECK(value() == "one");
    {
      const EnvironmentVariable none(name, "");
      CHECK(value() == "");
    }
    CHECK(value() == "one");
  }
  CHECK(value() == "not set");
}
