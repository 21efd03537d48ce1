// What a file says, and what it means where it says nothing: steps, defaults, GGUF token types.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/text/tokenizer/spec.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/support/paths.h"
#include "tests/unit/files/format_test_util.h"

namespace triescope::test_spec {
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

TEST_CASE("spec: a split keeps, drops or joins its matches as its behaviour says") {
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

TEST_CASE("spec: steps that leave a setting out have its default") {
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

TEST_CASE("spec: a Strip decoder takes at most its number of characters from either end") {
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

TEST_CASE("spec: a Strip decoder may take all that a token has") {
  const json strip = {{"type", "Strip"}, {"content", " "}, {"start", 0}, {"stop", 1}};
  CHECK(with({" ", "a "}, {{"decoder", strip}})->decode(Ids{0}) == "");
  CHECK(with({" ", "a "}, {{"decoder", strip}})->decode(Ids{1, 0, 1}) == "aa");
}

TEST_CASE("spec: without a decoder tokens stand side by side with a space between them") {
  const auto plain = with({"a", "b"}, json::object());
  CHECK(plain->decode(Ids{0, 1, 1}) == "a b b");
  CHECK(plain->decode(Ids{1}) == "b");
  CHECK(plain->decode(Ids{}) == "");
}

TEST_CASE("spec: a byte token may be written in lower case; without byte fallback it is its text") {
  const auto decoder = with({"<0xc3>", "<0xA9>"}, {{"decoder", {{"type", "ByteFallback"}}}});
  CHECK(decoder->decode(Ids{0, 1}) == "\u00e9");
  CHECK(decoder->piece(0) == "<0xc3>");
}

TEST_CASE("spec: Unicode's four forms") {
  // A ligature, which only the compatible forms take apart, and an accent.
  const std::string text = "\uFB01\u00e9";
  const std::vector<std::string> tokens = {text, "\uFB01e\u0301", "fi\u00e9", "fie\u0301"};
  const auto form = [&](const char* type) {
    return with(tokens, {{"normalizer", {{"type", type}}}})->encode(text, false);
  };
  CHECK(form("NFC") == Ids{0});
  CHECK(form("NFD") == Ids{1});
  CHECK(form("NFKC") == Ids{2});
  CHECK(form("NFKD") == Ids{3});
}

TEST_CASE("spec: digits are cut out one by one or as a run, also those that are not 0 to 9") {
  const std::vector<std::string> tokens = {"a", "1", "2", "12", "\u00b2", "a1", "a12", "a\u00b2"};
  const auto cut = [&](const json& step, const std::string& text) {
    return with(tokens, {{"pre_tokenizer", step}})->encode(text, false);
  };
  const json each = {{"type", "Digits"}, {"individual_digits", true}};
  CHECK(cut(each, "a12") == Ids{0, 1, 2});
  CHECK(cut(each, "a\u00b2") == Ids{0, 4});
  for (const json& run :
       {json{{"type", "Digits"}}, json{{"type", "Digits"}, {"individual_digits", false}}}) {
    CHECK(cut(run, "a12") == Ids{0, 3});
    CHECK(cut(run, "a\u00b2") == Ids{0, 4});
  }
}

TEST_CASE(
    "spec: Whitespace takes words and signs and drops the spaces; WhitespaceSplit only the spaces") {
  const std::vector<std::string> tokens = {"a", "b", "!?", " ", "b!?", "! ", " !"};
  const auto cut = [&](const char* type) {
    return with(tokens, {{"pre_tokenizer", {{"type", type}}}})->encode("a  b!? !?", false);
  };
  CHECK(cut("Whitespace") == Ids{0, 1, 2, 2});
  CHECK(cut("WhitespaceSplit") == Ids{0, 4, 2});
}

TEST_CASE(
    "spec: a split's text is taken literally, its expression with the white space of Unicode") {
  const std::vector<std::string> tokens = {" ", "a", "b", ".", "a.b", "ab"};
  const auto cut = [&](const json& pattern, const std::string& text) {
    const json split = {{"type", "Split"}, {"pattern", pattern}, {"behavior", "Removed"}};
    return with(tokens, {{"pre_tokenizer", split}})->encode(text, false);
  };
  CHECK(cut({{"String", "."}}, "a.b") == Ids{1, 2});
  CHECK(cut({{"Regex", "."}}, "a.b") == Ids{});
  CHECK(cut({{"Regex", "[\\S]+"}}, "a b") == Ids{0});
  CHECK(cut({{"Regex", "\\S+"}}, "a b") == Ids{0});
  CHECK(cut({{"Regex", "[\\s]+"}}, "a b") == Ids{1, 2});
  CHECK(cut({{"Regex", "\\s+"}}, "a\u3000b") == Ids{1, 2});
}

TEST_CASE("spec: a sign is put in front of a text, not of nothing") {
  const json steps = {
      {"type", "Sequence"},
      {"normalizers", {{{"type", "Strip"}}, {{"type", "Prepend"}, {"prepend", "_"}}}}};
  const auto tokenizer = with({"_", "a", "_a"}, {{"normalizer", steps}});
  CHECK(tokenizer->encode(" a ", false) == Ids{2});
  CHECK(tokenizer->encode("  ", false) == Ids{});
}

TEST_CASE("prepend_scheme first: the first word alone, and only where the text begins with it") {
  const json metaspace = {{"type", "Metaspace"}, {"prepend_scheme", "first"}};
  const json split = {{"type", "Split"}, {"pattern", {{"String", "-"}}}, {"behavior", "Removed"}};
  const json steps = {{"type", "Sequence"}, {"pretokenizers", {split, metaspace}}};
  const std::vector<std::string> tokens = {"a", "\u2581a", "\u2581\na", "\na"};
  CHECK(with(tokens, {{"pre_tokenizer", steps}})->encode("a-a-a", false) == Ids{1, 0, 0});
  // What a Strip takes off the beginning was the beginning; off the end it was not.
  json strip = {{"type", "Strip"}, {"strip_left", true}, {"strip_right", false}};
  CHECK(with(tokens, {{"normalizer", strip}, {"pre_tokenizer", metaspace}})->encode("\na", false) ==
        Ids{0});
  strip = {{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}};
  CHECK(with(tokens, {{"normalizer", strip}, {"pre_tokenizer", metaspace}})->encode("\na", false) ==
        Ids{2});
}

TEST_CASE("spec: dropout of 0 is none") {
  for (const json& dropout : {json(nullptr), json(0.0), json(0)}) {
    const json file = {{"model",
                        {{"type", "BPE"},
                         {"vocab", {{"a", 0}}},
                         {"merges", json::array()},
                         {"dropout", dropout}}}};
    CHECK(tokenizer::spec_from_json(file.dump(), "test").vocab.size() == 1);
  }
}

TEST_CASE("merges.txt: its version line and empty lines are none, one of signs is") {
  const test::TempDir folder;
  test::write_file(folder.path() / "vocab.json", R"({"#":0,"##":1,"!":2,"#!":3})");
  test::write_file(folder.path() / "merges.txt", "#version: 0.2\n\n# #\n# !\n");
  const auto tokenizer = load_tokenizer(folder.path().string());
  CHECK(tokenizer->encode("##", false) == Ids{1});
  CHECK(tokenizer->encode("#!", false) == Ids{3});
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
  CHECK(loaded()->encode("abc", false) == Ids{0, 1, 3});  // EOS is found in the text
  const std::vector<ChatMessage> none;
  CHECK(loaded()->apply_chat_template({none}, false) == "db");
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
}  // namespace triescope::test_spec
