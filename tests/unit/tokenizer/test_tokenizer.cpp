// What the rest of the program relies on: pieces, special tokens, streams, GGUF metadata.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/unicode.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/unit/files/format_test_util.h"

namespace triescope::test_tokenizer {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

std::unique_ptr<Tokenizer> load(const test::TempDir& folder, const json& content) {
  test::write_file(folder.path() / "tokenizer.json", content.dump());
  return load_tokenizer((folder.path() / "tokenizer.json").string());
}

json byte_level() {
  return {{"model",
           {{"type", "BPE"},
            {"vocab",
             {{"a", 0},
              {"b", 1},
              {"\u0120", 2},
              {"\u0120a", 3},
              {"\u00c3", 4},
              {"\u00a9", 5},
              {"ab", 6}}},
            {"merges", {"\u0120 a", "a b"}}}},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"added_tokens", {{{"id", 7}, {"content", "<eos>"}, {"special", true}}}}};
}

// Characters, byte tokens and a few merges, as SentencePiece makes them.
json sentencepiece() {
  json vocab = {{"<unk>", 0}, {"\u2581", 1}, {"a", 2}, {"\u2581a", 3}};
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    vocab[name] = 4 + byte;
  }
  return {
      {"model",
       {{"type", "BPE"},
        {"vocab", vocab},
        {"merges", {"\u2581 a"}},
        {"byte_fallback", true},
        {"fuse_unk", true},
        {"unk_token", "<unk>"}}},
      {"normalizer", {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}},
      {"decoder",
       {{"type", "Sequence"},
        {"decoders",
         {{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}},
          {{"type", "ByteFallback"}},
          {{"type", "Fuse"}}}}}}};
}

// The code and message a GGUF's tokenizer is refused with, "" if it is accepted.
std::string refusal(const test::GgufWriter& file) {
  const test::TempDir folder;
  test::write_file(folder.path() / "t.gguf", file.bytes());
  try {
    load_tokenizer((folder.path() / "t.gguf").string());
    return "";
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
}

TEST_CASE("tokenizer: a piece is the bytes a token stands for, half characters included") {
  const test::TempDir folder;
  const auto tokenizer = load(folder, byte_level());
  CHECK(tokenizer->piece(3) == " a");
  CHECK(tokenizer->piece(4) == "\xC3");
  CHECK(tokenizer->piece(5) == "\xA9");
  CHECK(tokenizer->piece(7) == "<eos>");
  CHECK(tokenizer->vocab_size() == 8);
  CHECK(tokenizer->is_special(7));
  CHECK_FALSE(tokenizer->is_special(3));
  const auto pieces = load(folder, sentencepiece());
  CHECK(pieces->piece(3) == " a");
  CHECK(pieces->piece(4 + 0xE2) == "\xE2");
}

TEST_CASE("tokenizer: special tokens written in the text are recognised, and skipped on request") {
  const test::TempDir folder;
  const auto tokenizer = load(folder, byte_level());
  CHECK(tokenizer->encode("ab<eos> a") == Ids{6, 7, 3});
  CHECK(tokenizer->decode(Ids{6, 7, 3}) == "ab<eos> a");
  CHECK(tokenizer->decode(Ids{6, 7, 3}, true) == "ab a");
}

TEST_CASE(
    "tokenizer: a metaspace decoder drops every space sign of the first token, as tokenizers does") {
  const test::TempDir folder;
  json file = sentencepiece();
  file["model"]["vocab"]["\u2581\u2581"] = 260;
  file["decoder"] = {{"type", "Metaspace"}, {"prepend_scheme", "first"}};
  const auto first = load(folder, file);
  CHECK(first->decode(Ids{260, 3, 260}) == " a  ");
  CHECK(first->decode(Ids{3, 260}) == "a  ");
  file["decoder"]["prepend_scheme"] = "never";
  CHECK(load(folder, file)->decode(Ids{260, 3}) == "   a");
}

TEST_CASE("tokenizer: ids out of range and broken UTF-8 are refused with their place") {
  const test::TempDir folder;
  const auto tokenizer = load(folder, byte_level());
  CHECK_THROWS_AS(tokenizer->decode(Ids{8}), Error);
  CHECK_THROWS_AS(tokenizer->decode(Ids{-1}), Error);
  CHECK_THROWS_AS(tokenizer->piece(8), Error);
  try {
    tokenizer->encode("ab\xC3(");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    CHECK(std::string(error.what()).find("byte 2") != std::string::npos);
  }
}

TEST_CASE("tokenizer: a stream holds back half a character and gives out the rest") {
  const test::TempDir folder;
  const auto tokenizer = load(folder, byte_level());
  StreamDecoder stream(*tokenizer);
  CHECK(stream.push(0) == "a");
  CHECK(stream.push(4) == "");
  CHECK(stream.push(5) == "\u00e9");
  CHECK(stream.push(4) == "");
  CHECK(stream.push(0) ==
        "\uFFFD"
        "a");
  CHECK(stream.push(4) == "");
  CHECK(stream.finish() == "\uFFFD");
}

TEST_CASE("tokenizer: a stream is always valid UTF-8 and never stalls, whatever bytes come") {
  const test::TempDir folder;
  const auto tokenizer = load(folder, sentencepiece());
  std::uint32_t state = 1;
  StreamDecoder stream(*tokenizer);
  std::string all;
  std::size_t longest = 0, silent = 0;
  for (int i = 0; i < 5000; ++i) {
    state = state * 1664525u + 1013904223u;
    const std::string fresh = stream.push(static_cast<std::int32_t>(state >> 16) % 260);
    silent = fresh.empty() ? silent + 1 : 0;
    longest = std::max(longest, silent);
    all += fresh;
  }
  all += stream.finish();
  CHECK(invalid_utf8_offset(all) == std::string::npos);
  CHECK(longest < 40);
}

TEST_CASE("tokenizer: a long run of byte tokens streams as the characters it spells") {
  const test::TempDir folder;
  const auto tokenizer = load(folder, sentencepiece());
  std::string text;
  for (int i = 0; i < 30; ++i) text += "\u4f60";  // three byte tokens each
  const Ids ids = tokenizer->encode(text, false);
  CHECK(ids.size() == 90);
  StreamDecoder stream(*tokenizer);
  std::string streamed;
  for (const auto id : ids) streamed += stream.push(id);
  CHECK(streamed + stream.finish() == text);
}

TEST_CASE("tokenizer: a long stream equals the text decoded at once") {
  const auto path = test::model_path();
  if (!path) TRIESCOPE_SKIP("no model");
  const auto tokenizer = load_tokenizer(path->string());
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "Caf\u00e9 \u4f60\u597d \U0001F469\u200D\U0001F680 word " + std::to_string(i) + "\n";
  const Ids ids = tokenizer->encode(text);
  StreamDecoder stream(*tokenizer);
  std::string streamed;
  for (const auto id : ids) streamed += stream.push(id);
  CHECK(streamed + stream.finish() == text);
}

TEST_CASE("SmolLM2's metadata: special tokens, end of turn, template") {
  const auto path = test::model_path();
  if (!path) TRIESCOPE_SKIP("no model");
  const auto tokenizer = load_tokenizer(path->string());
  CHECK(tokenizer->description() == "byte-level BPE, smollm, 49152 tokens");
  CHECK(tokenizer->bos_token_id() == 1);
  CHECK(tokenizer->eos_token_ids() == Ids{2, 4, 0});  // im_end; reponame, endoftext
  CHECK(tokenizer->is_special(2));
  REQUIRE(tokenizer->has_chat_template());
  const std::vector<ChatMessage> messages = {{"user", "Hi"}};
  CHECK(tokenizer->apply_chat_template({messages}, true) ==
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
        "<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
}

TEST_CASE("tokenizer: a GGUF of model llama merges by score, prepends a space and BOS") {
  const test::TempDir folder;
  test::GgufWriter file;
  file.add("tokenizer.ggml.model", std::string("llama"));
  file.add_raw("tokenizer.ggml.tokens", 9,
               test::gguf_texts({"<unk>", "<s>", "</s>", "<0xC3>", "<0xA9>", "\u2581", "a", "b",
                                 "ab", "\u2581a"}));
  // "ab" scores better than "\u2581a", so it is made first.
  file.add_raw("tokenizer.ggml.scores", 9,
               test::gguf_numbers<float>(6, {0, 0, 0, 0, 0, -10, -11, -12, -1, -2}));
  file.add_raw("tokenizer.ggml.token_type", 9,
               test::gguf_numbers<std::int32_t>(5, {2, 3, 3, 6, 6, 1, 1, 1, 1, 1}));
  file.add("tokenizer.ggml.bos_token_id", std::uint32_t{1});
  file.add("tokenizer.ggml.eos_token_id", std::uint32_t{2});
  file.add("tokenizer.ggml.unknown_token_id", std::uint32_t{0});
  const auto path = folder.path() / "llama.gguf";
  test::write_file(path, file.bytes());
  const auto tokenizer = load_tokenizer(path.string());
  CHECK(tokenizer->encode("ab") == Ids{1, 5, 8});
  CHECK(tokenizer->encode("a b") == Ids{1, 9, 5, 7});
  CHECK(tokenizer->encode("\u00e9</s>", false) == Ids{5, 3, 4, 2});
  CHECK(tokenizer->encode("?", false) == Ids{5, 0});
  CHECK(tokenizer->decode(Ids{5, 3, 4, 9}) == "\u00e9 a");
  CHECK(tokenizer->piece(3) == "\xC3");
  CHECK(tokenizer->eos_token_ids() == Ids{2});
}

TEST_CASE("tokenizer: the pre types of a GGUF split as their families do") {
  const test::TempDir folder;
  const auto pieces = [&](const std::string& pre) {
    test::GgufWriter file;
    std::vector<std::string> tokens{"<s>"}, merges;
    for (const char c : std::string("abAB128/!")) tokens.emplace_back(1, c);
    // 12 and 128: digits together, where the split lets them; aB, B/, !/: across case and slashes.
    for (const char* merge : {"1 2", "12 8", "a B", "! /"}) {
      merges.emplace_back(merge);
      tokens.push_back(std::string(merge).erase(std::string(merge).find(' '), 1));
    }
    // No merge leads to it: only where merges are ignored for whole pieces.
    tokens.emplace_back("bA");
    file.add("tokenizer.ggml.model", std::string("gpt2"));
    file.add("tokenizer.ggml.pre", pre);
    file.add_raw("tokenizer.ggml.tokens", 9, test::gguf_texts(tokens));
    file.add_raw("tokenizer.ggml.merges", 9, test::gguf_texts(merges));
    file.add_raw("tokenizer.ggml.token_type", 9,
                 test::gguf_numbers(5, std::vector<std::int32_t>(tokens.size(), 1)));
    file.add("tokenizer.ggml.bos_token_id", std::uint32_t{0});
    test::write_file(folder.path() / "t.gguf", file.bytes());
    const auto tokenizer = load_tokenizer((folder.path() / "t.gguf").string());
    std::string found;
    for (const auto id : tokenizer->encode("128aB!/bA"))
      found += std::string(tokenizer->piece(id)) + " ";
    return found;
  };
  CHECK(pieces("gpt-2") == "128 aB !/ b A ");
  CHECK(pieces("llama-bpe") == "<s> 128 aB !/ bA ");
  CHECK(pieces("lfm2") == pieces("llama-bpe"));
  CHECK(pieces("smaug-bpe") == "128 aB !/ b A ");
  CHECK(pieces("qwen2") == "1 2 8 aB !/ b A ");
  CHECK(pieces("deepseek-r1-qwen") == pieces("qwen2"));
  CHECK(pieces("tekken") == "<s> 1 2 8 a B !/ b A ");
  for (const char* name : {"phi-2", "exaone4", "olmo"}) CHECK(pieces(name) == pieces("gpt-2"));
  for (const char* name : {"starcoder", "refact", "command-r"})
    CHECK(pieces(name) == pieces("smollm"));
  for (const char* name : {"dbrx", "chatglm-bpe"}) CHECK(pieces(name) == pieces("smaug-bpe"));
  CHECK(pieces("glm4") == "128 aB !/ bA ");
  CHECK(pieces("gpt-4o") == "128 a B !/ b A ");
  CHECK(pieces("stablelm2") == pieces("qwen2"));
  CHECK(pieces("seed-coder") == pieces("qwen2"));
}

TEST_CASE(
    "tokenizer: a GGUF with many long SentencePiece tokens is refused before they are split every way") {
  const auto message = [](std::size_t count) {
    test::GgufWriter file;
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < count; ++i)
      tokens.push_back(std::to_string(i) + std::string(900, 'x'));
    file.add("tokenizer.ggml.model", std::string("llama"));
    file.add_raw("tokenizer.ggml.tokens", 9, test::gguf_texts(tokens));
    file.add_raw("tokenizer.ggml.scores", 9, test::gguf_numbers(6, std::vector<float>(count)));
    file.add_raw("tokenizer.ggml.token_type", 9,
                 test::gguf_numbers(5, std::vector<std::int32_t>(count, 1)));
    return refusal(file);
  };
  CHECK(message(100) == "");
  CHECK(message(1'500).find("too many long tokens") != std::string::npos);
}

TEST_CASE("tokenizer: a GGUF whose pre type, model or sizes are not known is refused by name") {
  const auto message = [](const std::string& model, const std::string& pre, std::uint32_t bos) {
    test::GgufWriter file;
    file.add("tokenizer.ggml.model", model);
    file.add("tokenizer.ggml.pre", pre);
    file.add_raw("tokenizer.ggml.tokens", 9, test::gguf_texts({"a", "b", "ab"}));
    file.add_raw("tokenizer.ggml.merges", 9, test::gguf_texts({bos == 1 ? "a c" : "a b"}));
    file.add_raw("tokenizer.ggml.token_type", 9,
                 test::gguf_numbers(5, std::vector<std::int32_t>(3, 1)));
    file.add("tokenizer.ggml.bos_token_id", bos);
    return refusal(file);
  };
  CHECK(message("gpt2", "gpt-2", 0) == "");
  CHECK(message("gpt2", "jina", 0).find("'jina' is not supported") != std::string::npos);
  CHECK(message("t5", "gpt-2", 0).find("'t5' is not supported") != std::string::npos);
  CHECK(message("gpt2", "gpt-2", 3) == "");  // outside the vocabulary: it has no BOS
  CHECK(message("gpt2", "gpt-2", 1).find("merges, entry 0") != std::string::npos);
}

}  // namespace
}  // namespace triescope::test_tokenizer
