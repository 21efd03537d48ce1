// Untrusted tokenizer.json files: every contradiction is an Error that says what and where.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/support/paths.h"
#include "tests/unit/files/format_test_util.h"

namespace triescope::test_hostile_tokenizer {
namespace {

using nlohmann::json;

json plain() {
  return {{"model",
           {{"type", "BPE"},
            {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}},
            {"merges", json::array({"a b"})}}}};
}

struct Outcome {
  bool loaded = false;
  ErrorCode code = ErrorCode::kCancelled;
  std::string message;
};

Outcome outcome(const std::string& content) {
  const test::TempDir folder;
  test::write_file(folder.path() / "tokenizer.json", content);
  try {
    load_tokenizer(folder.path().string());
    return {true, {}, ""};
  } catch (const Error& error) {
    return {false, error.code(), error.what()};
  }
}

void refuses(const json& content, ErrorCode code, const std::string& part) {
  const Outcome got = outcome(content.dump());
  CAPTURE(part);
  CAPTURE(got.message);
  CHECK_FALSE(got.loaded);
  CHECK(got.code == code);
  CHECK(got.message.find(part) != std::string::npos);
  CHECK(got.message.find("tokenizer.json") != std::string::npos);
}

TEST_CASE(
    "hostile tokenizer: a vocabulary or a merge that contradicts itself is corruption, with its place") {
  CHECK(outcome(plain().dump()).loaded);
  json file = plain();
  file["model"]["vocab"]["c"] = 2;
  refuses(file, ErrorCode::kCorruption, "appears twice");
  file = plain();
  file["model"]["vocab"]["c"] = std::int64_t{1} << 60;
  refuses(file, ErrorCode::kCorruption, "vocab: id");
  file = plain();
  file["model"]["vocab"]["c"] = -1;
  refuses(file, ErrorCode::kCorruption, "vocab: id -1");
  file = plain();
  file["model"]["vocab"]["c"] = "2";
  refuses(file, ErrorCode::kCorruption, "vocab");
  file = plain();
  file["model"]["merges"].push_back("a c");
  refuses(file, ErrorCode::kCorruption, "entry 1");
  file["model"]["merges"][1] = "ab";
  refuses(file, ErrorCode::kCorruption, "entry 1");
  file["model"]["merges"][1] = {"a", "b", "c"};
  refuses(file, ErrorCode::kCorruption, "entry 1");
  file["model"]["merges"][1] = {"", "ab"};
  refuses(file, ErrorCode::kCorruption, "entry 1");
  file = plain();
  file["added_tokens"] = {{{"id", 0}, {"content", "<s>"}}};
  refuses(file, ErrorCode::kCorruption, "added_tokens: id 0");
  file["added_tokens"] = {{{"id", 4'000'000'000}, {"content", "<s>"}}};
  refuses(file, ErrorCode::kCorruption, "added_tokens");
  file["added_tokens"] = {{{"content", "<s>"}}};
  refuses(file, ErrorCode::kCorruption, "id");
  file = plain();
  file["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single", {{{"SpecialToken", {{"id", "<s>"}}}}}},
                            {"special_tokens", {{"<s>", {{"ids", {3}}}}}}};
  refuses(file, ErrorCode::kCorruption, "post_processor");
  file["post_processor"]["special_tokens"] = json::object();
  refuses(file, ErrorCode::kCorruption, "post_processor");
}

TEST_CASE("hostile tokenizer: merges that make each other, or repeat, end like any other") {
  json file = plain();
  file["model"]["merges"] = {"a b", "a b", "a b"};
  CHECK(outcome(file.dump()).loaded);
}

TEST_CASE(
    "hostile tokenizer: text that is not a tokenizer, keys that stand twice and deep nesting are corruption") {
  for (const std::string& content :
       {std::string(), std::string("{"), std::string("[]"), std::string("{\"model\": 1}"),
        std::string("{\"model\": {\"type\": \"BPE\", \"vocab\": [], \"merges\": {}}}"),
        std::string(R"({"model":{"vocab":{"a":0,"a":1},"merges":[]}})"), std::string(100'000, '['),
        "{\"model\":" + std::string(50'000, '{')}) {
    const Outcome got = outcome(content);
    CAPTURE(content.substr(0, 60));
    CAPTURE(got.message);
    CHECK_FALSE(got.loaded);
    CHECK(got.code == ErrorCode::kCorruption);
  }
}

TEST_CASE("hostile tokenizer: what is not supported is refused by name") {
  json file = plain();
  for (const char* type : {"WordLevel", "CharBPE"}) {
    file["model"]["type"] = type;
    refuses(file, ErrorCode::kNotSupported, type);
  }
  file = plain();
  file["normalizer"] = {{"type", "Nmt"}};
  refuses(file, ErrorCode::kNotSupported, "Nmt");
  file = plain();
  file["pre_tokenizer"] = {{"type", "UnicodeScripts"}};
  refuses(file, ErrorCode::kNotSupported, "UnicodeScripts");
  file = plain();
  file["pre_tokenizer"] = {
      {"type", "Split"}, {"pattern", {{"Regex", "(((a"}}}, {"behavior", "Isolated"}};
  refuses(file, ErrorCode::kNotSupported, "(((a");
  file = plain();
  file["decoder"] = {{"type", "CTC"}};
  refuses(file, ErrorCode::kNotSupported, "CTC");
  file = plain();
  file["post_processor"] = {{"type", "PairProcessing"}};
  refuses(file, ErrorCode::kNotSupported, "PairProcessing");
  file = plain();
  file["model"]["dropout"] = 0.1;
  refuses(file, ErrorCode::kNotSupported, "dropout");
}

TEST_CASE("hostile tokenizer: a damaged tokenizer.json is read or refused, never a crash") {
  json file = plain();
  file["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers", {{{"type", "Prepend"}, {"prepend", "_"}}, {{"type", "NFC"}}}}};
  file["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  file["decoder"] = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
  file["added_tokens"] = {{{"id", 3}, {"content", "<s>"}, {"special", true}}};
  file["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single", {{{"SpecialToken", {{"id", "<s>"}}}}, {{"Sequence", {{"id", "A"}}}}}},
      {"special_tokens", {{"<s>", {{"ids", {3}}}}}}};
  // Each value in turn becomes something else.
  const json flat = file.flatten();
  REQUIRE(outcome(flat.unflatten().dump()).loaded);
  const std::vector<json> others = {nullptr, -1, 1e300, "x", true, json::array(), json::object()};
  for (const auto& [key, value] : flat.items())
    for (const json& other : others) {
      json damaged = file;
      damaged[json::json_pointer(key)] = other;
      const Outcome got = outcome(damaged.dump());
      CAPTURE(damaged.dump());
      const bool said =
          got.loaded || got.code == ErrorCode::kCorruption || got.code == ErrorCode::kNotSupported;
      CHECK(said);
    }
  const std::string whole = file.dump();
  for (std::size_t size = 0; size < whole.size(); size += 7)
    CHECK_FALSE(outcome(whole.substr(0, size)).loaded);
}

// What encoding (or decoding) `text` with it throws; empty: nothing.
std::string use(const json& content, const std::string& text) {
  const test::TempDir folder;
  test::write_file(folder.path() / "tokenizer.json", content.dump());
  try {
    const auto tokenizer = load_tokenizer(folder.path().string());
    tokenizer->decode(tokenizer->encode(text), false);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

json sequence(const char* key, const json& step, int times) {
  return {{"type", "Sequence"},
          {key, json(std::vector<json>(static_cast<std::size_t>(times), step))}};
}

TEST_CASE(
    "hostile tokenizer: steps that each make a text longer end in an error, not in full memory") {
  CHECK(use(plain(), "abab").empty());
  json file = plain();
  const json doubling = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}};
  file["normalizer"] = sequence("normalizers", doubling, 60);
  CHECK(use(file, "abab").find("64 times") != std::string::npos);
  file["normalizer"] = sequence(
      "normalizers", {{"type", "Replace"}, {"pattern", {{"Regex", "a"}}}, {"content", "aa"}}, 60);
  CHECK(use(file, "abab").find("64 times") != std::string::npos);
  file = plain();
  file["pre_tokenizer"] =
      sequence("pretokenizers", {{"type", "ByteLevel"}, {"use_regex", false}}, 60);
  CHECK(use(file, "ab\xC3\xA9").find("64 times") != std::string::npos);
  file = plain();
  file["pre_tokenizer"] = sequence(
      "pretokenizers", {{"type", "Metaspace"}, {"replacement", "    "}, {"split", false}}, 60);
  CHECK(use(file, "a b").find("64 times") != std::string::npos);
  file = plain();
  file["decoder"] = sequence("decoders", doubling, 60);
  CHECK(use(file, "abab").find("64 times") != std::string::npos);
  // What is stripped is nothing, two thousand million times.
  file["decoder"] = {{"type", "Strip"}, {"content", ""}, {"start", 1 << 20}, {"stop", 1 << 20}};
  CHECK(use(file, "abab").empty());
}

// A text of n bytes may become 64 n + 65536 bytes long.
TEST_CASE("hostile tokenizer: the words of a text are counted together, each once") {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "a b ";
  const json cut = {
      {"type", "Split"}, {"pattern", {{"String", " a"}}}, {"behavior", "MergedWithNext"}};
  json file = plain();
  const auto with = [&](std::size_t bytes) {
    const json longer = {{"type", "Metaspace"},
                         {"replacement", std::string(bytes, '_')},
                         {"prepend_scheme", "never"},
                         {"split", false}};
    file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {cut, longer}}};
    return use(file, text);
  };
  // 8,000 bytes may become 577,536: 4,000 of them stay, 4,000 are spaces.
  CHECK(with(143) == "");
  CHECK(with(145).find("64 times") != std::string::npos);
}

TEST_CASE(
    "hostile tokenizer: a tokenizer that asks for more than any real one is refused by the field") {
  json file = plain();
  file["normalizer"] = sequence("normalizers", {{"type", "NFC"}}, 65);
  refuses(file, ErrorCode::kCorruption, "normalizer: expected at most 64 steps");
  file = plain();
  file["decoder"] = {{"type", "Strip"}, {"content", " "}, {"start", 2'000'000'000}, {"stop", 0}};
  refuses(file, ErrorCode::kCorruption, "start");
  file["decoder"]["start"] = 1e300;
  refuses(file, ErrorCode::kCorruption, "start");
  file = plain();
  file["model"]["vocab"]["c"] = 1'900'000;  // 60 MB of holes
  refuses(file, ErrorCode::kCorruption, "vocab: id 1900000");
  file = plain();
  file["added_tokens"] = {{{"id", 1'900'000}, {"content", "<s>"}}};
  refuses(file, ErrorCode::kCorruption, "added_tokens: id 1900000");
  file["added_tokens"] = {{{"id", 1e300}, {"content", "<s>"}}};
  refuses(file, ErrorCode::kCorruption, "added_tokens: id");
  file["added_tokens"] = {{{"id", 3}, {"content", std::string(2000, 's')}}};
  refuses(file, ErrorCode::kCorruption, "at most 1024 bytes");
  file = plain();
  file["model"]["vocab"][std::string(2000, 'a')] = 3;
  refuses(file, ErrorCode::kCorruption, "at most 1024 bytes");
  file = plain();
  file["model"]["merges"].push_back(std::string(1 << 20, ' '));
  refuses(file, ErrorCode::kCorruption, "entry 1");
  file = plain();
  file["pre_tokenizer"] = {{"type", "Split"},
                           {"pattern", {{"Regex", std::string(1 << 20, 'a')}}},
                           {"behavior", "Isolated"}};
  refuses(file, ErrorCode::kNotSupported, "regular expression");
  file["pre_tokenizer"]["pattern"]["Regex"] = "\\C";  // half a character
  refuses(file, ErrorCode::kNotSupported, "regular expression");
}

TEST_CASE("hostile tokenizer: a regular expression that would never end is an error") {
  json file = plain();
  file["pre_tokenizer"] = {{"type", "Split"}, {"behavior", "Isolated"}};
  for (const char* pattern : {"(a+)+$", "(*NO_JIT)(a+)+$", "(a|a)*$", "(a*)*\\1$"}) {
    CAPTURE(pattern);
    file["pre_tokenizer"]["pattern"] = {{"Regex", pattern}};
    CHECK(use(file, std::string(5000, 'a') + "b").find("too much") != std::string::npos);
  }
}

TEST_CASE("hostile tokenizer: a tokenizer's files are looked for in its folder alone") {
  const test::TempDir outside, folder;
  test::write_file(outside.path() / "tokenizer.json", plain().dump());
  std::filesystem::create_symlink(outside.path() / "tokenizer.json",
                                  folder.path() / "tokenizer.json");
  CHECK_THROWS_WITH_AS(load_tokenizer(folder.path().string()), doctest::Contains("symbolic link"),
                       Error);
  std::filesystem::remove(folder.path() / "tokenizer.json");
  test::write_file(folder.path() / "tokenizer.json", plain().dump());
  CHECK_NOTHROW(load_tokenizer(folder.path().string()));
  test::write_file(outside.path() / "secret", "{}");
  for (const char* name :
       {"tokenizer_config.json", "chat_template.jinja", "generation_config.json"}) {
    CAPTURE(name);
    std::filesystem::create_symlink(outside.path() / "secret", folder.path() / name);
    CHECK_THROWS_WITH_AS(load_tokenizer(folder.path().string()), doctest::Contains(name), Error);
    std::filesystem::remove(folder.path() / name);
  }
}

TEST_CASE(
    "hostile tokenizer: a folder without a tokenizer and a path that is not there are not found") {
  const test::TempDir folder;
  for (const std::string& path : {folder.path().string(), folder.path().string() + "/none"}) {
    try {
      load_tokenizer(path);
      FAIL("opened");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kNotFound);
    }
  }
}

}  // namespace
}  // namespace triescope::test_hostile_tokenizer
