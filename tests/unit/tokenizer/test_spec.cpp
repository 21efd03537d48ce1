// What a file says, and what it means where it says nothing: steps, defaults, GGUF token types.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/tokenizer/spec.h"
#include "core/tokenizer/tokenizer.h"
#include "tests/support/paths.h"
#include "tests/unit/formats/format_test_util.h"

namespace triescope {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

// Words that are tokens stay whole (ignore_merges), so that ids show where a text was cut.
std::unique_ptr<Tokenizer> with(const std::vector<std::string>& tokens, const json& parts) {
  json file = {{"model",
                {{"type", "BPE"},
                 {"vocab", json::object()},
                 {"merges", json::array()},
                 {"ignore_merges", true}}}};
  for (std::size_t i = 0; i < tokens.size(); ++i) file["model"]["vocab"][tokens[i]] = i;
  file.update(parts);
  return tokenizer::make_tokenizer(tokenizer::spec_from_json(file.dump(), "test"));
}

TEST_CASE("a split keeps, drops or joins its matches as its behaviour says") {
  // tokenizers documents these on "the-final--countdown".
  const auto cut = [](const char* behavior, bool invert = false) {
    const json split = {{"type", "Split"},
                        {"pattern", {{"String", "-"}}},
                        {"behavior", behavior},
                        {"invert", invert}};
    return with({"a", "b", "-", "a-", "-b", "--"}, {{"pre_tokenizer", split}})
        ->encode("a--b", false);
  };
  CHECK(cut("Isolated") == Ids{0, 2, 2, 1});
  CHECK(cut("Removed") == Ids{0, 1});
  CHECK(cut("MergedWithPrevious") == Ids{3, 2, 1});
  CHECK(cut("MergedWithNext") == Ids{0, 2, 4});
  CHECK(cut("Contiguous") == Ids{0, 5, 1});
  CHECK(cut("Removed", true) == Ids{2, 2});
}

TEST_CASE("steps that leave a setting out have its default") {
  const std::vector<std::string> byte_level = {"a", "\u0120a"};
  CHECK(with(byte_level, {{"pre_tokenizer", {{"type", "ByteLevel"}}}})->encode("a", false) ==
        Ids{1});
  const std::vector<std::string> signs = {"a", "\u2581a"};
  json metaspace = {{"type", "Metaspace"}};
  CHECK(with(signs, {{"pre_tokenizer", metaspace}})->encode("a", false) == Ids{1});
  metaspace["add_prefix_space"] = false;  // the older spelling
  CHECK(with(signs, {{"pre_tokenizer", metaspace}})->encode("a", false) == Ids{0});
  CHECK(with({"a", " "}, {{"normalizer", {{"type", "Strip"}}}})->encode(" a ", false) == Ids{0});
  json strip = {{"type", "Strip"}, {"strip_left", false}};
  CHECK(with({"a", " "}, {{"normalizer", strip}})->encode(" a ", false) == Ids{1, 0});
  // An added token is normalised unless it is special.
  const json lower = {{"type", "Lowercase"}};
  json added = {{{"id", 2}, {"content", "AA"}}};
  CHECK(with({"a", "A"}, {{"normalizer", lower}, {"added_tokens", added}})->encode("aa", false) ==
        Ids{2});
  added[0]["special"] = true;
  CHECK(with({"a", "A"}, {{"normalizer", lower}, {"added_tokens", added}})->encode("aa", false) ==
        Ids{0, 0});
}

TEST_CASE("a Strip decoder takes at most its number of characters from either end") {
  const auto decoded = [](int start, int stop) {
    const json strip = {{"type", "Strip"}, {"content", " "}, {"start", start}, {"stop", stop}};
    return with({"  a   "}, {{"decoder", strip}})->decode(Ids{0});
  };
  CHECK(decoded(0, 0) == "  a   ");
  CHECK(decoded(1, 0) == " a   ");
  CHECK(decoded(5, 0) == "a   ");
  CHECK(decoded(0, 1) == "  a  ");
  CHECK(decoded(2, 2) == "a ");
}

TEST_CASE("a folder: generation_config.json's EOS, else config.json's, else the tokenizer's") {
  const test::TempDir folder;
  const auto write = [&](const char* name, const std::string& text) {
    test::write_file(folder.path() / name, text);
  };
  const auto loaded = [&] { return load_tokenizer(folder.path().string()); };
  write("vocab.json", R"({"a":0,"b":1,"ab":2,"c":3})");
  write("merges.txt", "#version: 0.2\r\na b\r\n");
  write("tokenizer_config.json", R"({"eos_token":{"content":"b"},"chat_template":[
      {"name":"default","template":"d{{ eos_token }}"},{"name":"tools","template":"x"}]})");
  CHECK(loaded()->encode("abc", false) == Ids{2, 3});
  const std::vector<ChatMessage> none;
  CHECK(loaded()->apply_chat_template(none, false) == "db");
  CHECK(loaded()->eos_token_ids() == Ids{1});
  write("config.json", R"({"eos_token_id":3})");
  CHECK(loaded()->eos_token_ids() == Ids{3});
  write("generation_config.json", R"({"eos_token_id":null})");
  CHECK(loaded()->eos_token_ids() == Ids{3});
  write("generation_config.json", R"({"eos_token_id":[0,2]})");
  CHECK(loaded()->eos_token_ids() == Ids{0, 2});
}

TEST_CASE(
    "GGUF: user-defined tokens are found but not special, EOT ends too, ties go to the lower id") {
  test::GgufWriter file;
  const std::vector<std::string> tokens = {"<unk>", "</s>", "<eot>", "<u>", "a",
                                           "b",     "c",    "bc",    "ab"};
  file.add("tokenizer.ggml.model", std::string("llama"));
  file.add_raw("tokenizer.ggml.tokens", 9, test::gguf_texts(tokens));
  file.add_raw("tokenizer.ggml.scores", 9,
               test::gguf_numbers(6, std::vector<float>{0, 0, 0, 0, -3, -3, -3, -1, -1}));
  file.add_raw("tokenizer.ggml.token_type", 9,
               test::gguf_numbers(5, std::vector<std::int32_t>{2, 3, 3, 4, 1, 1, 1, 1, 1}));
  file.add("tokenizer.ggml.eos_token_id", std::uint32_t{1});
  file.add("tokenizer.ggml.eot_token_id", std::uint32_t{2});
  file.add("tokenizer.ggml.unknown_token_id", std::uint32_t{0});
  file.add_raw("tokenizer.ggml.add_space_prefix", 7, std::string(1, '\0'));
  const test::TempDir folder;
  test::write_file(folder.path() / "t.gguf", file.bytes());
  const auto tokenizer = load_tokenizer((folder.path() / "t.gguf").string());
  CHECK(tokenizer->eos_token_ids() == Ids{1, 2});
  CHECK(tokenizer->encode("a<u>b", false) == Ids{4, 3, 5});
  CHECK(tokenizer->is_special(1));
  CHECK_FALSE(tokenizer->is_special(3));
  CHECK(tokenizer->encode("abc", false) == Ids{4, 7});
  CHECK(tokenizer->encode("abc") == Ids{4, 7});  // no BOS named, no EOS asked for
}

}  // namespace
}  // namespace triescope
