// The model alone: merges, unknown characters, byte tokens. All ids are those of `tokenizers`
// 0.23.3.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/text/tokenizer/spec.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::test_bpe {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

// `tokens` have their place as id; "<unk>" stands for unknown characters where it is one of them.
Ids encode(const std::vector<std::string>& tokens, const std::vector<std::string>& merges,
           const std::string& text, const json& flags = json::object()) {
  json model = {{"type", "BPE"}, {"vocab", json::object()}, {"merges", merges}};
  for (std::size_t i = 0; i < tokens.size(); ++i) model["vocab"][tokens[i]] = i;
  if (model["vocab"].contains("<unk>")) model["unk_token"] = "<unk>";
  model.update(flags);
  const json file = {{"model", model}};
  return tokenizer::make_tokenizer(tokenizer::spec_from_json(file.dump(), "test"))
      ->encode(text, false);
}

TEST_CASE("bpe: the merge of the lowest rank comes first, and makes new pairs") {
  const std::vector<std::string> tokens = {"<unk>", "a", "b", "c", "ab", "abc", "bc", "aa"};
  const std::vector<std::string> merges = {"b c", "a b", "a bc", "a a"};
  CHECK(encode(tokens, merges, "abc") == Ids{5});
  CHECK(encode(tokens, merges, "ab") == Ids{4});
  CHECK(encode(tokens, merges, "aabc") == Ids{1, 5});
  CHECK(encode(tokens, merges, "aaa") == Ids{7, 1});
  CHECK(encode(tokens, merges, "aaab") == Ids{7, 4});
}

TEST_CASE("bpe: of equal merges the leftmost comes first, in short words and in long ones") {
  const std::vector<std::string> tokens = {"<unk>", "a", "aa", "aaa"};
  const std::vector<std::string> merges = {"a a", "aa a"};
  CHECK(encode(tokens, merges, "aaa") == Ids{3});
  CHECK(encode(tokens, merges, "aaaa") == Ids{2, 2});
  CHECK(encode(tokens, merges, "aaaaa") == Ids{2, 3});
  // 24 symbols are searched one by one, more than that in a heap.
  for (const std::size_t pairs : {12u, 13u, 20u}) {
    Ids expected(pairs, 2);
    CHECK(encode(tokens, merges, std::string(2 * pairs, 'a')) == expected);
    expected.back() = 3;
    CHECK(encode(tokens, merges, std::string(2 * pairs + 1, 'a')) == expected);
  }
}

TEST_CASE("bpe: of a merge that stands twice the last rank counts") {
  const std::vector<std::string> tokens = {"<unk>", "a", "b", "c", "ab", "bc"};
  CHECK(encode(tokens, {"a b", "b c"}, "abc") == Ids{4, 3});
  CHECK(encode(tokens, {"a b", "b c", "a b"}, "abc") == Ids{1, 5});
}

TEST_CASE("bpe: an unknown character merges as <unk> does") {
  const std::vector<std::string> tokens = {"<unk>", "a", "<unk>a", "a<unk>"};
  CHECK(encode(tokens, {"<unk> a"}, "?a") == Ids{2});
  CHECK(encode(tokens, {"<unk> a"}, "a?a") == Ids{1, 2});
  CHECK(encode(tokens, {"a <unk>"}, "a?a") == Ids{3, 1});
}

TEST_CASE("ignore_merges: a word that is a token is that token, whatever the merges make") {
  const std::vector<std::string> tokens = {"<unk>", "a", "b", "c", "ab", "abc", "bc"};
  const std::vector<std::string> merges = {"b c", "a b"};
  const json ignore = {{"ignore_merges", true}};
  CHECK(encode(tokens, merges, "abc", ignore) == Ids{5});
  CHECK(encode(tokens, merges, "abc") == Ids{1, 6});
  CHECK(encode(tokens, merges, "bcb", ignore) == Ids{6, 2});
  CHECK(encode(tokens, merges, "abcabc", ignore) == Ids{1, 6, 1, 6});
}

TEST_CASE("unknown characters: one <unk> each, one for a run of them, or nothing") {
  const std::vector<std::string> tokens = {"<unk>", "a", "b"};
  CHECK(encode(tokens, {}, "a??b?") == Ids{1, 0, 0, 2, 0});
  CHECK(encode(tokens, {}, "a??b?", {{"fuse_unk", true}}) == Ids{1, 0, 2, 0});
  CHECK(encode(tokens, {}, "?a", {{"fuse_unk", true}}) == Ids{0, 1});
  CHECK(encode({"a", "b"}, {}, "a?b") == Ids{0, 1});
  CHECK(encode({"a", "b"}, {}, "??") == Ids{});
}

TEST_CASE("bpe: byte fallback needs every byte of a character; where one is missing it is <unk>") {
  const json fallback = {{"byte_fallback", true}};
  const json fused = {{"byte_fallback", true}, {"fuse_unk", true}};
  const std::vector<std::string> both = {"<unk>", "a", "b", "<0xC3>", "<0xA9>"};
  const std::vector<std::string> first = {"<unk>", "a", "b", "<0xC3>"};
  const std::vector<std::string> second = {"<unk>", "a", "b", "<0xA9>"};
  CHECK(encode(both, {}, "a\u00e9b", fallback) == Ids{1, 3, 4, 2});
  CHECK(encode(both, {}, "\u00e9\u00e9", fallback) == Ids{3, 4, 3, 4});
  CHECK(encode(both, {}, "a\u00e9b") == Ids{1, 0, 2});  // byte tokens alone do nothing
  CHECK(encode(first, {}, "a\u00e9b", fallback) == Ids{1, 0, 2});
  CHECK(encode(second, {}, "a\u00e9b", fallback) == Ids{1, 0, 2});
  CHECK(encode(first, {}, "\u00e9\u00e9", fallback) == Ids{0, 0});
  CHECK(encode(first, {}, "\u00e9\u00e9", fused) == Ids{0});
  CHECK(encode(first, {}, "\u00e9a\u00e9", fused) == Ids{0, 1, 0});
}

TEST_CASE(
    "bpe: an <unk> comes after the byte tokens that follow it, before the next known character") {
  // \u00e8 is C3 A8, and A8 is not there.
  const std::vector<std::string> tokens = {"<unk>", "a", "b", "<0xC3>", "<0xA9>"};
  const json fallback = {{"byte_fallback", true}};
  const json fused = {{"byte_fallback", true}, {"fuse_unk", true}};
  CHECK(encode(tokens, {}, "\u00e8\u00e9\u00e8\u00e8", fused) == Ids{3, 4, 0});
  CHECK(encode(tokens, {}, "\u00e8\u00e8\u00e9", fused) == Ids{3, 4, 0});
  CHECK(encode(tokens, {}, "\u00e8\u00e9\u00e8\u00e8", fallback) == Ids{3, 4, 0, 0, 0});
  CHECK(encode(tokens, {}, "\u00e8\u00e9a\u00e9", fallback) == Ids{3, 4, 0, 1, 3, 4});
  CHECK(encode({"b", "a", "<0xC3>", "<0xA9>"}, {}, "\u00e8\u00e9?a", fallback) == Ids{2, 3, 1});
}

}  // namespace
}  // namespace triescope::test_bpe
