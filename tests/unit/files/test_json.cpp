#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/files/cbor.h"
#include "core/files/json.h"

namespace test_json {

using namespace triescope;
using triescope::formats::parse_cbor;
using triescope::formats::parse_json;

namespace {

std::string repeated(const std::string& piece, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += piece;
  return all;
}

// The message it is refused with, "" if it is accepted.
std::string refusal(const std::string& text) {
  try {
    parse_json(text, "some.json");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kCorruption);
    CHECK(std::string(error.what()).starts_with("some.json: "));
    return error.what();
  }
  return "";
}

bool names(const std::string& message, const std::string& what) {
  return message.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("JSON: it comes out as the library's own parser gives it") {
  for (
      const char* text :
      {R"({"a":[1,-2,3.5,1e3,18446744073709551615,true,false,null,"x\u00e9\n"],"b":{"c":{},"d":[]}})",
       "[]", "{}", "7", "\"text\"", "null", R"([[],[[]],{"k":[{"k":1},{"k":2}]}])", " [ 1 , 2 ] ",
       R"({"":{"":{"":0}}})"})
    CHECK(parse_json(text, "some.json") == nlohmann::json::parse(text));
}

TEST_CASE("JSON: the numbers that Python writes and JSON has no word for, outside of strings") {
  const nlohmann::json found =
      parse_json(R"([NaN, Infinity ,-Infinity,{"a":NaN,"b":[Infinity]},"NaN, Infinity","\"",NaN])",
                 "some.json");
  REQUIRE(found.size() == 7);
  for (const nlohmann::json* number : {&found[0], &found[3]["a"], &found[6]})
    CHECK(std::isnan(number->get<double>()));
  CHECK(found[1].get<double>() == std::numeric_limits<double>::infinity());
  CHECK(found[2].get<double>() == -std::numeric_limits<double>::infinity());
  CHECK(found[3]["b"][0].get<double>() == std::numeric_limits<double>::infinity());
  CHECK(found[4] == "NaN, Infinity");
  CHECK(found[5] == "\"");
  CHECK(parse_json("-Infinity", "some.json").get<double>() < 0);
  CHECK(std::isnan(parse_json("NaN\n", "some.json").get<double>()));
  for (const char* text : {"[nan]", "[1NaN]", "[NaN1]", "[NaNNaN]", "[--Infinity]", "[+Infinity]",
                           "[-NaN]", "[Inf]", "{NaN:1}", "[NaN", "NaN NaN"}) {
    CAPTURE(text);
    CHECK(names(refusal(text), "expected JSON, found"));
  }
}

TEST_CASE("JSON: text that is not JSON, or is beyond the limits, is refused by the file's name") {
  for (const char* text : {"", "{", "[1,", "[1}", "{\"a\"}", "{\"a\":1,}", "tru", "1 2", "[1e999]",
                           "\"\\ud800\"", "{1:2}"})
    CHECK(names(refusal(text), "expected JSON, found"));
  CHECK(names(refusal(R"({"a":1,"b":2,"a":3})"), "key 'a' appears twice"));
  CHECK(names(refusal(R"([{"a":{"b":1}},{"a":{"b":1,"b":1}}])"), "key 'b' appears twice"));
  CHECK(refusal(R"([{"a":1},{"a":1}])").empty());
  CHECK(refusal(repeated("[", 64) + repeated("]", 64)).empty());
  CHECK(names(refusal(repeated("[", 65) + repeated("]", 65)), "at most 64 deep"));
  CHECK(names(refusal(repeated("{\"a\":", 64) + "[]" + repeated("}", 64)), "at most 64 deep"));
  CHECK(names(refusal(repeated("[", 10'000'000)), "at most 64 deep"));
  // The list itself counts too.
  CHECK(refusal("[" + repeated("0,", (4u << 20) - 2) + "0]").empty());
  CHECK(
      names(refusal("[" + repeated("0,", (4u << 20) - 1) + "0]"), "at most 4 million JSON values"));
  // So does a key: the list, an object, its key and its value are four.
  const std::string object = R"({"a":0}])";
  CHECK(refusal("[" + repeated("0,", (4u << 20) - 4) + object).empty());
  CHECK(names(refusal("[" + repeated("0,", (4u << 20) - 3) + object),
              "at most 4 million JSON values"));
}

TEST_CASE("JSON: CBOR has the same limits") {
  const auto refused = [](const std::string& bytes) -> std::string {
    try {
      parse_cbor(bytes, "the line");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  // A list of that many zeros: a byte each, behind the list's length in four bytes.
  const auto zeros = [](std::uint32_t count) {
    std::string bytes = "\x9a";
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((count >> shift) & 255);
    return bytes + std::string(count, '\0');
  };
  CHECK(refused(zeros((4u << 20) - 1)).empty());
  CHECK(refused(zeros(4u << 20)).find("at most 4 million") != std::string::npos);
  // A list that claims more than there is does not ask for its memory.
  CHECK(refused("\x9a\xff\xff\xff\xff").find("expected CBOR") != std::string::npos);
  CHECK(refused("\x7b\xff\xff\xff\xff\xff\xff\xff\xff!").find("expected CBOR") !=
        std::string::npos);
}

// A parser that looks through the list after each of its objects would be at it for minutes.
TEST_CASE("JSON: Long lists of objects take time by their length alone") {
  const std::size_t count = 600'000;
  const std::string list = "[" + repeated(R"({"id":1,"t":2},)", count) + "{}]";
  CHECK(parse_json(list, "some.json").size() == count + 1);
  std::string object = "{";
  for (std::size_t i = 0; i < count; ++i)
    object.append("\"").append(std::to_string(i)).append("\":{\"id\":1},");
  CHECK(parse_json(object + "\"\":{}}", "some.json").size() == count + 1);
}

}  // namespace test_json
