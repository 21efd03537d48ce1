// The tokenizer that GGUF metadata describe: merges from scores, kinds of tokens, special ids.
#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/text/tokenizer/spec.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/format_test_util.h"

namespace triescope::test_gguf_spec {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kNormal = 1, kControl = 3, kUserDefined = 4, kByte = 6;

struct Token {
  const char* text;
  float score;
  std::int32_t type = kNormal;
};

test::GgufWriter llama(const std::vector<Token>& tokens, const std::string& model = "llama") {
  test::GgufWriter file;
  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<std::int32_t> types;
  for (const Token& token : tokens) {
    texts.emplace_back(token.text);
    scores.push_back(token.score);
    types.push_back(token.type);
  }
  file.add("tokenizer.ggml.model", model);
  file.add_raw("tokenizer.ggml.tokens", 9, test::gguf_texts(texts));
  file.add_raw("tokenizer.ggml.scores", 9, test::gguf_numbers(6, scores));
  file.add_raw("tokenizer.ggml.token_type", 9, test::gguf_numbers(5, types));
  return file;
}

tokenizer::TokenizerSpec spec_of(const test::GgufWriter& file) {
  const test::TempDir folder;
  test::write_file(folder.path() / "t.gguf", file.bytes());
  return tokenizer::spec_from_gguf((folder.path() / "t.gguf").string());
}

// "a+bc b+c": in order of rank.
std::string merges(const std::vector<Token>& tokens) {
  const tokenizer::TokenizerSpec spec = spec_of(llama(tokens));
  const auto text = [&](std::int32_t id) { return spec.vocab[static_cast<std::size_t>(id)]; };
  std::string all;
  for (const auto& merge : spec.merges) {
    CHECK(text(merge.left) + text(merge.right) == text(merge.result));
    all += (all.empty() ? "" : " ") + text(merge.left) + "+" + text(merge.right);
  }
  return all;
}

}  // namespace

TEST_CASE("GGUF scores: the token that scores best is made first, of ties the one of lower id") {
  CHECK(merges({{"a", 0}, {"b", 0}, {"c", 0}, {"bc", -2}, {"ab", -1}}) == "a+b b+c");
  CHECK(merges({{"a", 0}, {"b", 0}, {"c", 0}, {"bc", -1}, {"ab", -1}}) == "b+c a+b");
  CHECK(merges({{"a", 0}, {"b", 0}, {"c", 0}, {"ab", -1}, {"bc", -1}}) == "a+b b+c");
}

TEST_CASE(
    "GGUF scores: of the ways to make a token the best left part comes first, then the right") {
  const auto ways = [](float a, float ab, float abc, float bcd, float cd, float d) {
    // Only "abcd" can be made.
    return merges(
        {{"a", a}, {"ab", ab}, {"abc", abc}, {"bcd", bcd}, {"cd", cd}, {"d", d}, {"abcd", 0}});
  };
  CHECK(ways(-1, -2, -3, -9, -8, -7) == "a+bcd ab+cd abc+d");
  CHECK(ways(-3, -2, -1, -9, -8, -7) == "abc+d ab+cd a+bcd");
  CHECK(ways(-2, -1, -3, -7, -8, -9) == "ab+cd a+bcd abc+d");
  // Left parts that tie: the best right part; where both tie, the shorter left part.
  CHECK(ways(-1, -1, -1, -9, -7, -8) == "ab+cd abc+d a+bcd");
  CHECK(ways(-1, -1, -1, -7, -7, -7) == "a+bcd ab+cd abc+d");
}

TEST_CASE("GGUF scores: a token is split between characters, not within one") {
  CHECK(merges({{"\u00e9", 0}, {"a", 0}, {"a\u00e9", -1}, {"\u00e9\u00e9", -2}}) ==
        "a+\u00e9 \u00e9+\u00e9");
}

TEST_CASE("GGUF scores: control, user-defined and byte tokens take no part in merges") {
  const auto with = [](std::int32_t type) {
    return merges({{"a", 0}, {"b", 0, type}, {"c", 0}, {"ab", -1}, {"ac", -2}});
  };
  CHECK(with(kNormal) == "a+b a+c");
  for (const std::int32_t type : {kControl, kUserDefined, kByte}) {
    CAPTURE(type);
    CHECK(with(type) == "a+c");
  }
}

TEST_CASE("GGUF: scores that are not numbers, or not one a token, are refused") {
  const std::vector<Token> tokens = {{"a", 0}, {"b", NAN}};
  CHECK(test::refusal(ErrorCode::kCorruption, [&] {
          spec_of(llama(tokens));
        }).find("tokenizer.ggml.scores: not a number") != std::string::npos);
  test::GgufWriter few = llama({{"a", 0}, {"b", 0}});
  few.keys.erase(few.keys.begin() + 2);
  few.add_raw("tokenizer.ggml.scores", 9, test::gguf_numbers(6, std::vector<float>{0}));
  CHECK(test::refusal(ErrorCode::kCorruption, [&] {
          spec_of(few);
        }).find("tokenizer.ggml.scores: expected 2 entries, found 1") != std::string::npos);
}

TEST_CASE("GGUF: a token of 1024 bytes is the longest") {
  const std::string longest(1024, 'x');
  CHECK(spec_of(llama({{longest.c_str(), 0}})).vocab[0] == longest);
  const std::string longer(1025, 'x');
  CHECK(test::refusal(ErrorCode::kCorruption, [&] {
          spec_of(llama({{longer.c_str(), 0}}));
        }).find("expected at most 1024 bytes a token, found 1025") != std::string::npos);
}

TEST_CASE("GGUF: byte fallback is there where the file has byte tokens") {
  CHECK(spec_of(llama({{"<0x41>", 0, kByte}})).byte_fallback);
  CHECK(!spec_of(llama({{"<0x41>", 0}})).byte_fallback);
  // A token that only looks like one is its text.
  CHECK(tokenizer::make_tokenizer(spec_of(llama({{"<0x41>", 0}})))->piece(0) == "<0x41>");
  CHECK(tokenizer::make_tokenizer(spec_of(llama({{"<0x41>", 0, kByte}})))->piece(0) == "A");
}

TEST_CASE("GGUF: special ids, one end of sequence where EOS and EOT agree") {
  test::GgufWriter file = llama({{"<s>", 0, kControl}, {"</s>", 0, kControl}, {"a", 0}});
  file.add("tokenizer.ggml.bos_token_id", std::uint32_t{0});
  file.add("tokenizer.ggml.eos_token_id", std::uint32_t{1});
  file.add("tokenizer.ggml.eot_token_id", std::uint32_t{1});
  const tokenizer::TokenizerSpec spec = spec_of(file);
  CHECK(spec.eos_ids == Ids{1});
  CHECK(spec.special_texts == std::vector<std::pair<std::string, std::string>>{
                                  {"bos_token", "<s>"}, {"eos_token", "</s>"}});
  file.add("tokenizer.ggml.mask_token_id", std::uint32_t{2});
  CHECK(spec_of(file).special_texts.back() ==
        std::pair<std::string, std::string>("mask_token", "a"));
  CHECK(spec.prefix_ids == Ids{0});  // SentencePiece adds BOS where nothing is said
  CHECK(spec.suffix_ids.empty());
  file.add_raw("tokenizer.ggml.add_bos_token", 7, std::string(1, '\0'));
  file.add_raw("tokenizer.ggml.add_eos_token", 7, std::string(1, '\1'));
  CHECK(spec_of(file).prefix_ids.empty());
  CHECK(spec_of(file).suffix_ids == Ids{1});
}

TEST_CASE("GGUF: an id outside the vocabulary means none, unless every text is to have it") {
  for (const std::uint32_t id : {0xffffffffu, 3u, 1u << 20}) {
    CAPTURE(id);
    test::GgufWriter file = llama({{"<s>", 0, kControl}, {"a", 0}, {"b", 0}});
    for (const char* name : {"bos", "eos", "eot", "unknown", "padding"})
      file.add("tokenizer.ggml." + std::string(name) + "_token_id", id);
    const tokenizer::TokenizerSpec spec = spec_of(file);
    CHECK(spec.bos_id == -1);
    CHECK(spec.unk_id == -1);
    CHECK(spec.eos_ids.empty());
    CHECK(spec.prefix_ids.empty());
    CHECK(spec.special_texts.empty());
    for (const char* name : {"bos", "eos"}) {
      test::GgufWriter asked = file;
      asked.add_raw("tokenizer.ggml.add_" + std::string(name) + "_token", 7, std::string(1, '\1'));
      const auto tokenizer = tokenizer::make_tokenizer(spec_of(asked));
      CHECK(test::refusal(ErrorCode::kCorruption, [&] {
              tokenizer->encode("a");
            }).find("_token_id: expected 0 to 2, because every text") != std::string::npos);
      CHECK(tokenizer->encode("a", false).back() == 1);
    }
  }
}

namespace {

test::GgufWriter byte_level(const std::vector<std::string>& tokens) {
  test::GgufWriter file;
  file.add("tokenizer.ggml.model", std::string("gpt2"));
  file.add("tokenizer.ggml.pre", std::string("gpt-2"));
  file.add_raw("tokenizer.ggml.tokens", 9, test::gguf_texts(tokens));
  return file;
}

std::string refused(const test::GgufWriter& file) {
  return test::refusal(ErrorCode::kCorruption, [&] { spec_of(file); });
}

}  // namespace

TEST_CASE("GGUF: a byte-level vocabulary without its merges is refused") {
  test::GgufWriter file = byte_level({"a", "b", "ab", "<x>"});
  file.add_raw("tokenizer.ggml.token_type", 9,
               test::gguf_numbers<std::int32_t>(5, {1, 1, 1, kControl}));
  CHECK(refused(file).find("expected tokenizer.ggml.merges, found none") != std::string::npos);
  test::GgufWriter empty = file;
  empty.add_raw("tokenizer.ggml.merges", 9, test::gguf_texts({}));
  CHECK(refused(empty).find("expected tokenizer.ggml.merges, found an empty list") !=
        std::string::npos);
  file.add_raw("tokenizer.ggml.merges", 9, test::gguf_texts({"a b"}));
  CHECK(tokenizer::make_tokenizer(spec_of(file))->encode("ab", false) == Ids{2});
  // Nothing to merge: single bytes, and special tokens.
  test::GgufWriter bytes = byte_level({"a", "\u0120", "<x>"});
  bytes.add_raw("tokenizer.ggml.token_type", 9,
                test::gguf_numbers<std::int32_t>(5, {1, 1, kControl}));
  bytes.add_raw("tokenizer.ggml.merges", 9, test::gguf_texts({}));
  CHECK(tokenizer::make_tokenizer(spec_of(bytes))->encode("a a", false) == Ids{0, 1, 0});
}

TEST_CASE("GGUF: a vocabulary with special or byte tokens needs their types") {
  const auto of = [](const std::vector<std::string>& tokens) {
    test::GgufWriter file = byte_level(tokens);
    file.add_raw("tokenizer.ggml.merges", 9, test::gguf_texts({}));
    return file;
  };
  const std::string missing = "tokenizer.ggml.token_type: expected 2 entries, found 0";
  CHECK(spec_of(of({"a", "b"})).added.empty());
  CHECK(refused(of({"a", "<|im_end|>"})).find(missing) != std::string::npos);
  CHECK(refused(of({"a", "<0x0A>"})).find(missing) != std::string::npos);
  for (const char* name : {"bos", "eos", "eot", "unknown", "padding"}) {
    test::GgufWriter file = of({"a", "b"});
    file.add("tokenizer.ggml." + std::string(name) + "_token_id", std::uint32_t{1});
    CHECK(refused(file).find(missing) != std::string::npos);
  }
  test::GgufWriter few = of({"a", "b"});
  few.add_raw("tokenizer.ggml.token_type", 9, test::gguf_numbers<std::int32_t>(5, {1}));
  CHECK(refused(few).find("expected 2 entries, found 1") != std::string::npos);
}

TEST_CASE("GGUF: without a space in front of the text none is taken off it") {
  test::GgufWriter file = llama({{"\u2581", 0}, {"a", 0}, {"\u2581a", -1}});
  const auto prefixed = tokenizer::make_tokenizer(spec_of(file));
  CHECK(prefixed->encode("a", false) == Ids{2});
  CHECK(prefixed->decode(Ids{2, 2}) == "a a");
  file.add_raw("tokenizer.ggml.add_space_prefix", 7, std::string(1, '\0'));
  const auto plain = tokenizer::make_tokenizer(spec_of(file));
  CHECK(plain->encode("a", false) == Ids{1});
  CHECK(plain->decode(Ids{2, 2}) == " a a");
}

TEST_CASE("GGUF: Llama 3's split takes digits in threes") {
  test::GgufWriter file;
  file.add("tokenizer.ggml.model", std::string("gpt2"));
  file.add("tokenizer.ggml.pre", std::string("llama-bpe"));
  file.add_raw("tokenizer.ggml.tokens", 9,
               test::gguf_texts({"1", "12", "123", "1234", "4", "34", "45"}));
  file.add_raw("tokenizer.ggml.merges", 9, test::gguf_texts({}));  // whole words are tokens
  const auto tokenizer = tokenizer::make_tokenizer(spec_of(file));
  CHECK(tokenizer->encode("123", false) == Ids{2});
  CHECK(tokenizer->encode("1234", false) == Ids{2, 4});
  CHECK(tokenizer->encode("12345", false) == Ids{2, 6});
}

TEST_CASE("GGUF gemma4: merges make the tokens, spaces are signs, and no sign stands in front") {
  const std::vector<Token> tokens = {{"<bos>", 0, kControl},
                                     {"a", 0},
                                     {"\xE2\x96\x81", 0},
                                     {"b", 0},
                                     {"\xE2\x96\x81"
                                      "b",
                                      -9},
                                     {"ab", -1},
                                     {"<0x0A>", 0, kByte}};
  const auto file = [&](const std::vector<std::string>& pairs) {
    test::GgufWriter writer = llama(tokens, "gemma4");
    if (!pairs.empty()) writer.add_raw("tokenizer.ggml.merges", 9, test::gguf_texts(pairs));
    writer.add_raw("tokenizer.ggml.add_space_prefix", 7, std::string(1, '\0'));
    writer.add("tokenizer.ggml.bos_token_id", std::uint32_t{0});
    return writer;
  };
  const auto tokenizer = tokenizer::make_tokenizer(spec_of(file({"\xE2\x96\x81 b"})));
  // "ab" scores best, and no merge makes it.
  CHECK(tokenizer->encode("ab b\n") == Ids{0, 1, 3, 4, 6});
  CHECK(tokenizer->decode(Ids{1, 4, 6}) == "a b\n");
  CHECK(test::refusal(ErrorCode::kCorruption, [&] {
          spec_of(file({}));
        }).find("'gemma4' needs it, found none") != std::string::npos);
}

}  // namespace triescope::test_gguf_spec
