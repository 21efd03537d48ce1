#include <doctest/doctest.h>

#include <string>

#include "app/session/token_pattern.h"
#include "core/base/error.h"

namespace triescope::app::test_token_pattern {
namespace {

TEST_CASE("token pattern: a pattern is searched for in a token's characters") {
  CHECK(TokenPattern("^\\s*[A-Z]").matches(" Hello"));
  CHECK_FALSE(TokenPattern("^\\s*[A-Z]").matches(" hello"));
  CHECK(TokenPattern("cap").matches(" capital"));
  CHECK_FALSE(TokenPattern("^cap").matches(" capital"));
  CHECK(TokenPattern("^.é.$").matches("xéy"));  // characters, not bytes
  CHECK_FALSE(TokenPattern("^..$").matches("é"));
  CHECK(TokenPattern("^.$").matches("\xC3"));  // half a character counts as one
  CHECK(TokenPattern("^$").matches(""));
}

TEST_CASE("token pattern: no pattern takes long over a token") {
  const std::string token(5000, 'a');
  for (const char* pattern : {"(a+)+b", "(a|a)*b", "(((((a*)*)*)*)*)*b", "a{1,10}{1,10}b"}) {
    CAPTURE(pattern);
    CHECK_FALSE(TokenPattern(pattern).matches(token));
  }
  // Characters beyond the limit are not matched.
  CHECK(TokenPattern("ab").matches(std::string(TokenPattern::kMaxTokenChars - 1, 'a') + "b"));
  CHECK_FALSE(TokenPattern("ab").matches(std::string(TokenPattern::kMaxTokenChars, 'a') + "b"));
}

TEST_CASE("token pattern: what is not a pattern is refused with the reason") {
  const auto refused = [](const std::string& pattern, const std::string& why) {
    CAPTURE(pattern);
    CHECK_THROWS_WITH_AS(TokenPattern{pattern}, doctest::Contains(why.c_str()), Error);
  };
  refused("", "expected a regular expression");
  refused("(", "a ( or ) has no partner");
  refused("*", "nothing to repeat");
  refused("[b-a]", "the wrong way round");
  refused("\\", "nothing to escape");
  refused("(a)\\1", "back references are not supported");
  refused("a(?=b)", "look-aheads are not supported");
  refused("a(?!b)", "look-aheads are not supported");
  refused("a{101}", "at most 100 repetitions");
  refused("(a{1,11}){10}", "at most 100 repetitions");
  refused("\xC3", "expected UTF-8");
  refused(std::string(201, 'a'), "expected at most 200 bytes, found 201");
  CHECK_NOTHROW(TokenPattern(std::string(200, 'a')));
  CHECK_NOTHROW(TokenPattern("(a{1,10}){10}"));
  CHECK_NOTHROW(TokenPattern("a{100}"));
}

}  // namespace
}  // namespace triescope::app::test_token_pattern
