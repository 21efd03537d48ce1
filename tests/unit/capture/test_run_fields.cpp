#include <doctest/doctest.h>

#include "core/capture/run_fields.h"

namespace triescope::capture::test_run_fields {

TEST_CASE("run fields: a field is read in the kind that is asked for") {
  const RunFields fields(
      R"({"name": "m", "layers": 30, "p": 0.5, "on": true, "ids": [2, "x", 7], "one": 3,
          "memory": {"weights": 92}})");
  CHECK(!fields.empty());
  CHECK(fields.has("layers"));
  CHECK(fields.text("name") == "m");
  CHECK(fields.integer("layers", -1) == 30);
  CHECK(fields.number("layers", -1) == 30);
  CHECK(fields.number("p", -1) == 0.5);
  CHECK(fields.boolean("on") == true);
  CHECK(fields.integers("ids") == std::vector<std::int32_t>{2, 7});
  CHECK(fields.integers("one") == std::vector<std::int32_t>{3});
  CHECK(fields.part("memory").integer("weights", 0) == 92);
  CHECK(fields.shown("name") == "m");
  CHECK(fields.shown("memory") == R"({"weights":92})");
}

TEST_CASE("run fields: a field that is absent or of another kind reads as the default") {
  const RunFields fields(R"({"name": 5, "layers": "30", "p": 1.5, "on": 1, "part": [1]})");
  CHECK(!fields.has("none"));
  CHECK(fields.text("name") == "");
  CHECK(fields.text("name", "other") == "other");
  CHECK(fields.integer("layers", -1) == -1);
  CHECK(fields.integer("p", -1) == -1);
  CHECK(fields.number("layers", -1) == -1);
  CHECK(fields.boolean("on") == std::nullopt);
  CHECK(fields.integers("layers").empty());
  CHECK(fields.part("part").empty());
  CHECK(fields.part("none").empty());
  CHECK(fields.shown("none") == "?");
}

TEST_CASE("run fields: an integer out of range reads as the default, and is left out of a list") {
  const RunFields fields(R"({"most": 9223372036854775807, "more": 9223372036854775808,
                             "huge": 18446744073709551615, "beyond": 1e300,
                             "least": -9223372036854775808,
                             "ids": [2147483647, 2147483648, -2147483648, -2147483649,
                                     18446744073709551615, 7],
                             "one": 4294967297})");
  CHECK(fields.integer("most", -1) == INT64_MAX);
  CHECK(fields.integer("least", -1) == INT64_MIN);
  for (const char* name : {"more", "huge", "beyond"}) CHECK(fields.integer(name, 5) == 5);
  CHECK(fields.integers("ids") == std::vector<std::int32_t>{INT32_MAX, INT32_MIN, 7});
  CHECK(fields.integers("one").empty());
}

TEST_CASE("run fields: nothing is blank but an absent, null or empty value") {
  const RunFields fields(R"({"null": null, "text": "", "list": [], "object": {}, "zero": 0,
                             "off": false, "word": "x", "ids": [1]})");
  for (const char* name : {"none", "null", "text", "list", "object"}) CHECK(fields.is_blank(name));
  for (const char* name : {"zero", "off", "word", "ids"}) CHECK(!fields.is_blank(name));
}

TEST_CASE("run fields: a text that is no JSON object has none") {
  for (const char* text : {"", "{", "[1]", "5", "null", "\xff"}) {
    const RunFields fields(text);
    CHECK(fields.empty());
    CHECK(!fields.has("name"));
    CHECK(fields.number("name", 4) == 4);
    CHECK(fields.shown("name") == "?");
  }
}

}  // namespace triescope::capture::test_run_fields
