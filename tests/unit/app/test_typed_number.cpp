#include <doctest/doctest.h>

#include "app/session/parameter_groups.h"
#include "app/session/typed_number.h"
#include "core/base/error.h"
#include "core/method/parameters_of.h"
#include "core/methods/registry.h"

namespace triescope::app::test_typed_number {
namespace {

const char* const kRubbish[] = {
    "",    " ",    "abc",  "12x",   "1 2", "0,7", "1.2.3", "--1",
    "nan", "inf",  "0x10", "1e999", "1e",  "-",   "+",     "99999999999999999999999x",
    "१२",  "1_000"};

TEST_CASE(
    "typed number: text that is not a number is refused, for every numeric setting of every method") {
  for (const MethodInfo& method : methods())
    for (const Parameter& parameter : parameters_of(method)) {
      if (parameter.kind != ParameterKind::kInteger && parameter.kind != ParameterKind::kNumber)
        continue;
      CAPTURE(parameter.name);
      for (const char* text : kRubbish) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(read_typed(parameter, text), doctest::Contains("expected a"), Error);
      }
      CHECK(read_typed(parameter, " 3 ") == 3);
      CHECK(read_typed(parameter, "+3") == 3);
      // A number out of range is read; a run says why it refuses it.
      CHECK(read_typed(parameter, "-100000000") == -100000000);
      if (parameter.kind == ParameterKind::kInteger) {
        CHECK_THROWS_AS(read_typed(parameter, "1.5"), Error);
        CHECK_THROWS_AS(read_typed(parameter, "99999999999999999999"), Error);
      } else {
        CHECK(read_typed(parameter, "1.5e-1") == 0.15);
      }
      // The field's text is read back as the same value.
      CHECK(read_typed(parameter, typed_text(parameter, parameter.default_value)) ==
            parameter.default_value);
    }
}

TEST_CASE("typed number: a word for 0 is typed and shown; a number is shown as it was typed") {
  const Parameter level = zero_is("auto", integer("level", "Level", 0, 0, 9, ""));
  CHECK(typed_text(level, 0) == "auto");
  CHECK(read_typed(level, "auto") == 0);
  CHECK(read_typed(level, "0") == 0);
  CHECK_THROWS_WITH_AS(read_typed(level, "aut"),
                       "expected an integer from 0 to 9 (0 = auto); found \"aut\"", Error);
  const Parameter cut = zero_is("off", number("cut", "Cut", 0, 0, 1, ""));
  CHECK(typed_text(cut, 0.0) == "off");
  CHECK(typed_text(cut, "off") == "off");  // from --set
  CHECK(read_typed(cut, "off") == 0.0);
  CHECK(stepped(cut, "off", 0.05) == 0.05);
  CHECK(why_refused(cut, "of") == "expected a number from 0 to 1 (0 = off); found \"of\"");
  const Parameter share = number("share", "Share", 0.7, 0, 1, "");
  CHECK(typed_text(share, 0.7) == "0.7");
  CHECK(typed_text(share, 1.0) == "1");
  CHECK(typed_text(share, "0.25") == "0.25");  // from --set
  CHECK(typed_text(share, "abc") == "abc");
  CHECK(why_refused(share, read_typed(share, "7")) == "expected a number from 0 to 1; found 7.0");
}

TEST_CASE("typed number: less and more leave no digits of binary fractions") {
  const Parameter share = number("share", "Share", 0.1, 0, 1, "");
  nlohmann::json value = 0.1;
  for (int i = 0; i < 3; ++i) value = stepped(share, value, 0.05);
  CHECK(value == 0.25);
  CHECK(stepped(share, "abc", 0.05) == 0.05);
  CHECK(stepped(integer("n", "N", 1, 1, 9, ""), "4", -5) == -1);
}

TEST_CASE("typed number: a seed is read to its last bit, and nothing else") {
  CHECK(read_seed("0") == 0);
  CHECK(read_seed(" 18446744073709551615 ") == UINT64_MAX);
  for (const char* text : {"18446744073709551616", "-1", "+1", "1.0", "seed", "",
                           "7 "
                           "x"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(read_seed(text), doctest::Contains("expected an integer from 0 to"),
                         Error);
  }
}

}  // namespace
}  // namespace triescope::app::test_typed_number
