// Added tokens, one flag at a time. All ids and texts are those of `tokenizers` 0.23.3.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/text/tokenizer/added_tokens.h"
#include "core/text/tokenizer/spec.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::test_added_tokens {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

enum Id : std::int32_t {
  kUnk,
  kSpace,
  kA,
  kB,
  kC,
  kDot,
  kNewline,
  kUnder,
  kBigA,
  kNbsp,
  kAb,
  kSign
};

// Characters, one merge, and `added`, whose ids go from 12 on.
std::unique_ptr<Tokenizer> with(const json& added, const json& normalizer = nullptr,
                                const json& pre_tokenizer = nullptr) {
  json vocab, entries = json::array();
  std::int32_t id = 0;
  for (const char* token :
       {"<unk>", " ", "a", "b", "c", ".", "\n", "_", "A", "\u00a0", "ab", "\u2581"})
    vocab[token] = id++;
  for (json token : added) {
    for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized"})
      if (!token.contains(flag)) token[flag] = false;
    if (!token.contains("special")) token["special"] = true;
    token["id"] = id++;
    entries.push_back(token);
  }
  const json file = {
      {"added_tokens", entries},
      {"normalizer", normalizer},
      {"pre_tokenizer", pre_tokenizer},
      {"decoder", {{"type", "Fuse"}}},
      {"model", {{"type", "BPE"}, {"unk_token", "<unk>"}, {"vocab", vocab}, {"merges", {"a b"}}}}};
  return tokenizer::make_tokenizer(tokenizer::spec_from_json(file.dump(), "test"));
}

Ids encode(const std::unique_ptr<Tokenizer>& tokenizer, const std::string& text) {
  return tokenizer->encode(text, false);
}

TEST_CASE("added tokens: an added token without flags takes itself alone") {
  const auto t = with({{{"content", "<t>"}}});
  CHECK(encode(t, "a<t>b") == Ids{kA, 12, kB});
  CHECK(encode(t, "a <t> b") == Ids{kA, kSpace, 12, kSpace, kB});
  CHECK(encode(t, "<t><t>") == Ids{12, 12});
  CHECK(encode(t, "<t>") == Ids{12});
  CHECK(encode(t, "a<t") == Ids{kA, kUnk, kUnk});  // its beginning alone is text
}

TEST_CASE("added tokens: lstrip takes all white space before the token, and none after it") {
  const auto t = with({{{"content", "<t>"}, {"lstrip", true}}});
  CHECK(encode(t, "a \n<t> b") == Ids{kA, 12, kSpace, kB});
  CHECK(encode(t, "a\u00a0 <t>") == Ids{kA, 12});
  CHECK(encode(t, " <t> <t>") == Ids{12, 12});
  CHECK(encode(t, "<t>a") == Ids{12, kA});
  CHECK(t->decode(Ids{kA, 12, kB}) == "a<t>b");
}

TEST_CASE("added tokens: rstrip takes all white space after the token, and none before it") {
  const auto t = with({{{"content", "<t>"}, {"rstrip", true}}});
  CHECK(encode(t, "a <t> \n b") == Ids{kA, kSpace, 12, kB});
  CHECK(encode(t, "<t>\u00a0a") == Ids{12, kA});
  CHECK(encode(t, "<t> <t> ") == Ids{12, 12});
  CHECK(encode(t, "<t>") == Ids{12});
}

TEST_CASE("lstrip and rstrip together: white space between two tokens is taken once") {
  const auto t = with({{{"content", "<t>"}, {"lstrip", true}, {"rstrip", true}}});
  CHECK(encode(t, "a <t> b") == Ids{kA, 12, kB});
  CHECK(encode(t, " <t> <t> ") == Ids{12, 12});
  CHECK(encode(t, "a<t>  <t>b") == Ids{kA, 12, 12, kB});
}

TEST_CASE("matches follow each other: none begins before the end of the last") {
  tokenizer::AddedToken token;
  token.content = "<t>";
  token.id = 7;
  token.lstrip = token.rstrip = true;
  const auto found = tokenizer::AddedTokens({token}, {token.content}).find(" <t>  <t>a ");
  REQUIRE(found.size() == 2);
  CHECK(found[0].begin == 0);
  CHECK(found[0].end == 6);
  CHECK(found[1].begin == 6);
  CHECK(found[1].end == 9);
  CHECK(found[1].id == 7);
}

TEST_CASE("single_word: no letter, digit, mark or connector may touch the token") {
  const auto t = with({{{"content", "ca"}, {"single_word", true}}});
  CHECK(encode(t, "ca") == Ids{12});
  CHECK(encode(t, "ca.") == Ids{12, kDot});
  CHECK(encode(t, "ca ca") == Ids{12, kSpace, 12});
  CHECK(encode(t, "bca") == Ids{kB, kC, kA});
  CHECK(encode(t, "cab ca") == Ids{kC, kAb, kSpace, 12});
  CHECK(encode(t, "caca") == Ids{kC, kA, kC, kA});
  CHECK(encode(t, "_ca") == Ids{kUnder, kC, kA});
  CHECK(encode(t, "ca_") == Ids{kC, kA, kUnder});
  CHECK(encode(t, "\u00e9ca") == Ids{kUnk, kC, kA});
  const auto strips =
      with({{{"content", "ca"}, {"single_word", true}, {"lstrip", true}, {"rstrip", true}}});
  CHECK(encode(strips, "b ca b") == Ids{kB, 12, kB});
  CHECK(encode(strips, "bca ") == Ids{kB, kC, kA, kSpace});  // refused: its spaces stay
  CHECK(encode(strips, " ca ca") == Ids{12, 12});
}

TEST_CASE(
    "added tokens: a normalised token is found in normalised text, and decodes to its normalised spelling") {
  const json lower = {{"type", "Lowercase"}};
  const auto t = with({{{"content", "AbA"}, {"normalized", true}, {"special", false}}}, lower);
  CHECK(encode(t, "AbA") == Ids{12});
  CHECK(encode(t, "aba") == Ids{12});
  CHECK(encode(t, "ABA") == Ids{12});
  CHECK(encode(t, "aAbAb") == Ids{kA, 12, kB});
  CHECK(t->decode(Ids{kA, 12, kB}) == "aabab");
  const auto raw = with({{{"content", "AbA"}, {"normalized", false}, {"special", false}}}, lower);
  CHECK(encode(raw, "AbA") == Ids{12});
  CHECK(encode(raw, "aba") == Ids{kAb, kA});
  CHECK(encode(raw, "ABA") == Ids{kAb, kA});
  CHECK(encode(raw, "aAbAb") == Ids{kA, 12, kB});
  CHECK(raw->decode(Ids{kA, 12, kB}) == "aAbAb");
}

TEST_CASE(
    "added tokens: a token whose normalised spelling has a sign in front is found with that sign alone") {
  const auto t = with({{{"content", "ca"}, {"normalized", true}, {"special", false}}},
                      {{"type", "Prepend"}, {"prepend", "\u2581"}});
  CHECK(encode(t, "ca") == Ids{12});
  CHECK(encode(t, "bca") == Ids{kSign, kB, kC, kA});
  CHECK(encode(t, "b\u2581ca") == Ids{kSign, kB, 12});
  CHECK(encode(t, "ca\u2581ca") == Ids{12, 12});
}

TEST_CASE("added tokens: only special tokens are left out when special tokens are skipped") {
  const auto t =
      with({{{"content", "<s>"}, {"special", true}}, {{"content", "<u>"}, {"special", false}}});
  const Ids ids = encode(t, "a<s>b<u>c");
  CHECK(ids == Ids{kA, 12, kB, 13, kC});
  CHECK(t->is_special(12));
  CHECK_FALSE(t->is_special(13));
  CHECK_FALSE(t->is_special(kA));
  CHECK(t->decode(ids) == "a<s>b<u>c");
  CHECK(t->decode(ids, true) == "ab<u>c");
}

TEST_CASE("added tokens: a token may hold a space, or have one at both ends") {
  const auto inside = with({{{"content", "a b"}}});
  CHECK(encode(inside, "a b") == Ids{12});
  CHECK(encode(inside, "a ba") == Ids{12, kA});
  CHECK(encode(inside, "ca bc") == Ids{kC, 12, kC});
  CHECK(encode(inside, "a  b") == Ids{kA, kSpace, kSpace, kB});
  const auto around = with({{{"content", " a "}}});
  CHECK(encode(around, "b a b") == Ids{kB, 12, kB});
  CHECK(encode(around, "a a a") == Ids{kA, 12, kA});
  CHECK(encode(around, "b a") == Ids{kB, kSpace, kA});
  CHECK(encode(around, " a  a ") == Ids{12, 12});
  const auto strips = with({{{"content", " a "}, {"lstrip", true}, {"rstrip", true}}});
  CHECK(encode(strips, "b  a  b") == Ids{kB, 12, kB});
  CHECK(encode(strips, "b a a b") == Ids{kB, 12, kA, kSpace, kB});
}

TEST_CASE(
    "added tokens: of tokens that overlap, the leftmost is taken, and the longest that begins there") {
  const auto t = with({{{"content", "<a"}}, {{"content", "<a>"}}, {{"content", "a>b"}}});
  CHECK(encode(t, "<a>b") == Ids{13, kB});
  CHECK(encode(t, "<a b") == Ids{12, kSpace, kB});
  CHECK(encode(t, "a>b") == Ids{14});
  CHECK(encode(t, "<a><a") == Ids{13, 12});
  CHECK(encode(t, "c<a>ba>b") == Ids{kC, 13, kB, 14});
  const auto reversed = with({{{"content", "<a>"}}, {{"content", "<a"}}, {{"content", "<"}}});
  CHECK(encode(reversed, "<a>b") == Ids{12, kB});
  CHECK(encode(reversed, "<<a>") == Ids{14, 12});
  CHECK(encode(reversed, "<b<") == Ids{14, kB, 14});
}

TEST_CASE("added tokens: tokens of the raw text are taken before those of the normalised text") {
  const auto t = with({{{"content", "ca"}, {"normalized", true}, {"special", false}},
                       {{"content", "ab"}, {"normalized", false}}});
  CHECK(encode(t, "cab") == Ids{kC, kAb});
  CHECK(encode(t, "ca") == Ids{12});
}

TEST_CASE("added tokens: an added token that is the model's own keeps the model's id") {
  const auto t = with({{{"content", "ab"}, {"special", false}}});
  CHECK(t->vocab_size() == 12);
  CHECK(encode(t, "cab") == Ids{kC, kAb});
  CHECK(encode(t, "aab") == Ids{kA, kAb});
}

TEST_CASE(
    "added tokens: what follows an added token begins a text for prepend_scheme always, not for first") {
  const json first = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "first"}};
  const auto f = with({{{"content", "<t>"}}}, nullptr, first);
  CHECK(encode(f, "a b") == Ids{kSign, kA, kSign, kB});
  CHECK(encode(f, "<t>a b") == Ids{12, kA, kSign, kB});
  CHECK(encode(f, "a<t>b") == Ids{kSign, kA, 12, kB});
  CHECK(encode(f, " a") == Ids{kSign, kA});
  CHECK(encode(f, "<t> a") == Ids{12, kSign, kA});
  json always = first;
  always["prepend_scheme"] = "always";
  const auto t = with({{{"content", "<t>"}}}, nullptr, always);
  CHECK(encode(t, "<t>a b") == Ids{12, kSign, kA, kSign, kB});
  CHECK(encode(t, "a<t>b") == Ids{kSign, kA, 12, kSign, kB});
  CHECK(encode(t, " a") == Ids{kSign, kA});
}

}  // namespace
}  // namespace triescope::test_added_tokens
