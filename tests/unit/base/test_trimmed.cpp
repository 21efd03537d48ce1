#include <doctest/doctest.h>

#include <string>

#include "core/base/trimmed.h"

namespace triescope::test {
namespace {

TEST_CASE("trimmed: spaces go from both ends, none from within") {
  CHECK(std::string(trimmed(" \t a b\tc \r")) == "a b\tc");
  CHECK(std::string(trimmed("a")) == "a");
  CHECK(trimmed(" \t\r").empty());
  CHECK(trimmed("").empty());
}

TEST_CASE("trimmed: which characters are spaces is the caller's to say") {
  CHECK(std::string(trimmed("\n a \n")) == "\n a \n");
  CHECK(std::string(trimmed("\n a \r\n", " \n\t")) == "a \r");
  CHECK(std::string(trimmed(" a ", "")) == " a ");
}

}  // namespace
}  // namespace triescope::test
