#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/words.h"

namespace triescope::test {
namespace {

TEST_CASE("words: split at spaces of every kind, none of them empty") {
  CHECK(words("  12\taccept \n x ") == std::vector<std::string>{"12", "accept", "x"});
  CHECK(words("one") == std::vector<std::string>{"one"});
  CHECK(words(" \n").empty());
  CHECK(words("").empty());
}

}  // namespace
}  // namespace triescope::test
