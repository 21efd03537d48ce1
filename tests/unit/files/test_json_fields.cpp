// Typed access to a JSON object: limits, absent and null, what a refusal shows.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/files/family.h"
#include "tests/support/refusal.h"

namespace test_json_fields {

using namespace triescope;
using namespace triescope::formats;
using triescope::test::refusal;

namespace {

// Asks for "k" of an object that holds `value` there.
template <class Ask>
std::string refused(const nlohmann::json& value, Ask ask) {
  const nlohmann::json object = {{"k", value}};
  return refusal(ErrorCode::kCorruption, [&] { ask(JsonFields(object, "some.json")); });
}

int integer(const nlohmann::json& value) {
  const nlohmann::json object = {{"k", value}};
  return JsonFields(object, "some.json").integer("k");
}

std::vector<std::int64_t> integers(const nlohmann::json& value) {
  const nlohmann::json object = {{"k", value}};
  return JsonFields(object, "some.json").integers("k");
}

}  // namespace

TEST_CASE("JSON fields: JSON integers go from 0 to 2^30, written with or without a point") {
  const auto ask = [](const JsonFields& fields) { fields.integer("k"); };
  CHECK(integer(0) == 0);
  CHECK(integer(1 << 30) == 1 << 30);
  CHECK(integer(7.0) == 7);
  for (const auto& [value, shown] : {std::pair(nlohmann::json((1 << 30) + 1), "1073741825"),
                                     {nlohmann::json(-1), "-1"},
                                     {nlohmann::json(2.5), "2.5"}})
    CHECK(refused(value, ask) ==
          std::string("some.json: k: expected an integer from 0 to 2^30, found ") + shown);
  CHECK(refused("7", ask) == "some.json: k: expected an integer, found \"7\"");
  CHECK(refused(nullptr, ask) == "some.json: k: expected an integer, found null");
}

TEST_CASE("JSON fields: JSON null counts as absent, and what is absent has its default") {
  const nlohmann::json object = {{"k", nullptr}};
  const JsonFields fields(object, "some.json");
  for (const char* key : {"k", "absent"}) {
    CHECK(!fields.has(key));
    CHECK(fields.integer(key, 3) == 3);
    CHECK(fields.number(key, 0.5) == 0.5);
    CHECK(fields.boolean(key, true));
    CHECK(!fields.boolean(key, false));
    CHECK(fields.text(key, "t") == "t");
    CHECK(fields.integers(key).empty());
  }
  CHECK(refusal(ErrorCode::kCorruption, [&] { fields.number("absent"); }) ==
        "some.json: absent: expected a number, found nothing");
  CHECK(refusal(ErrorCode::kCorruption, [&] { fields.text("absent"); }) ==
        "some.json: absent: expected a text, found nothing");
}

TEST_CASE("JSON integers of any sign: one or a list, at most 65536") {
  using Integers = std::vector<std::int64_t>;
  const auto ask = [](const JsonFields& fields) { fields.integers("k"); };
  CHECK(integers(5) == Integers{5});
  CHECK(integers({0, -1, std::int64_t{1} << 40}) == Integers{0, -1, std::int64_t{1} << 40});
  CHECK(integers(nlohmann::json::array()).empty());
  for (const nlohmann::json& value : {nlohmann::json(1.0), nlohmann::json({1, 1.5}),
                                      nlohmann::json("1"), nlohmann::json(std::uint64_t{1} << 63)})
    CHECK(refused(value, ask).starts_with("some.json: k: expected an integer, or a list of them"));
  CHECK(integers(nlohmann::json(std::vector<int>(65536, 1))).size() == 65536);
  CHECK(refused(std::vector<int>(65537, 1), ask)
            .starts_with("some.json: k: expected at most 65536 integers, found [1,1"));
}

TEST_CASE(
    "JSON fields: a number that is asked for is finite; one that is not is shown as it was written") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [value, shown] :
       {std::pair(infinity, "Infinity"), {-infinity, "-Infinity"}, {std::nan(""), "NaN"}}) {
    CHECK(refused(value, [](const JsonFields& fields) { fields.number("k"); }) ==
          std::string("some.json: k: expected a finite number, found ") + shown);
    CHECK(refused(value, [](const JsonFields& fields) { fields.integer("k"); }) ==
          std::string("some.json: k: expected an integer from 0 to 2^30, found ") + shown);
    CHECK(refused({1.0, value}, [](const JsonFields& fields) {
            fields.numbers("k");
          }).starts_with("some.json: k: expected a list of finite numbers"));
  }
}

TEST_CASE("JSON fields: JSON lists are of numbers or of texts, at most 65536 of them") {
  const nlohmann::json object = {{"numbers", {1, 2.5}}, {"texts", {"a", ""}}, {"mixed", {1, "a"}}};
  const JsonFields fields(object, "some.json");
  CHECK(fields.numbers("numbers") == std::vector<double>{1, 2.5});
  CHECK(fields.texts("texts") == std::vector<std::string>{"a", ""});
  for (const char* key : {"texts", "mixed", "absent"})
    CHECK(refusal(ErrorCode::kCorruption, [&] {
            fields.numbers(key);
          }).find("expected a list of numbers") != std::string::npos);
  for (const char* key : {"numbers", "mixed", "absent"})
    CHECK(refusal(ErrorCode::kCorruption, [&] {
            fields.texts(key);
          }).find("expected a list of texts") != std::string::npos);
  CHECK(refused(std::vector<int>(65537, 1), [](const JsonFields& f) {
          f.numbers("k");
        }).find("expected a list of numbers") != std::string::npos);
}

TEST_CASE("JSON fields: a refusal shows the first 80 bytes of what was found") {
  const auto ask = [](const JsonFields& fields) { fields.integer("k"); };
  const std::string before = "some.json: k: expected an integer, found \"";
  CHECK(refused(std::string(78, 'x'), ask) == before + std::string(78, 'x') + "\"");
  CHECK(refused(std::string(79, 'x'), ask) == before + std::string(79, 'x') + "...");
}

TEST_CASE("JSON fields: an object within names its place") {
  const nlohmann::json object = {{"inner", {{"k", "x"}}}, {"list", {1}}};
  const JsonFields fields(object, "some.json");
  CHECK(refusal(ErrorCode::kCorruption, [&] { fields.object("inner").integer("k"); }) ==
        "some.json: inner: k: expected an integer, found \"x\"");
  CHECK(refusal(ErrorCode::kCorruption, [&] { fields.object("list"); }) ==
        "some.json: list: expected an object, found [1]");
}

}  // namespace test_json_fields
