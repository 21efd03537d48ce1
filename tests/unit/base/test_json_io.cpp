#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/json_io.h"

namespace triescope::test {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

TEST_CASE("json_io: text that is not JSON becomes a discarded value, or null") {
  CHECK(json_or_discarded(R"({"a": [1, 2.5, "x"]})")["a"][2] == "x");
  for (const char* text : {"", "{", "nul", "[1, 2", "{\"a\": 1} more"}) {
    CAPTURE(text);
    CHECK(json_or_discarded(text).is_discarded());
    CHECK(json_or_null(text).is_null());
    CHECK(ordered_json_or_null(text).is_null());
  }
  CHECK(json_or_null("[3]") == json::array({3}));
  CHECK(dump_json(ordered_json_or_null(R"({"b": 1, "a": 2})")) == R"({"b":1,"a":2})");
}

TEST_CASE("json_io: a value is written on one line, or indented, with its keys as they are kept") {
  CHECK(dump_json(json{{"b", 1}, {"a", 2}}) == R"({"a":2,"b":1})");
  CHECK(dump_json(ordered_json{{"b", 1}, {"a", 2}}) == R"({"b":1,"a":2})");
  CHECK(dump_json(json{{"a", 2}}, 2) == "{\n  \"a\": 2\n}");
  CHECK(dump_json(ordered_json::array({1}), 0) == "[\n1\n]");
}

TEST_CASE("json_io: bytes that are not UTF-8 become U+FFFD, and ASCII is for texts that are cut") {
  CHECK(dump_json(json("a\xE2\x82z")) == "\"a\xEF\xBF\xBDz\"");
  CHECK(dump_json(ordered_json("a\xFFz"), 2) == "\"a\xEF\xBF\xBDz\"");
  CHECK(dump_json(json("ü"), -1, /*ascii=*/true) == "\"\\u00fc\"");
  CHECK(dump_json(json("ü")) == "\"ü\"");
}

TEST_CASE("json_io: a reader sees a string without its quotes, and anything else as JSON") {
  CHECK(json_text(json("two words")) == "two words");
  CHECK(json_text(ordered_json("\xFF")) == "\xFF");
  CHECK(json_text(json(nullptr)) == "null");
  CHECK(json_text(json(0.5)) == "0.5");
  CHECK(json_text(ordered_json{{"b", true}, {"a", {1, 2}}}) == R"({"b":true,"a":[1,2]})");
}

}  // namespace
}  // namespace triescope::test
