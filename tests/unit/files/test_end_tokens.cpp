// Which tokens end a text by a GGUF: those its keys name, and those known by their texts.
#include <doctest/doctest.h>

#include "core/files/end_tokens.h"
#include "tests/support/paths.h"
#include "tests/unit/files/config_files.h"

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace test_end_tokens {
namespace {

using Ids = std::vector<std::int32_t>;

struct Found {
  Ids ids;
  std::vector<std::string> notes;
};

// Of a file with these tokens and keys, "tokenizer.ggml." before and "_token_id" after each.
Found found(const std::vector<std::string>& tokens,
            const std::vector<std::pair<std::string, std::uint32_t>>& keys = {}) {
  const TempDir folder;
  GgufWriter file;
  file.add_raw("tokenizer.ggml.tokens", 9, gguf_texts(tokens));
  for (const auto& [key, id] : keys) file.add("tokenizer.ggml." + key + "_token_id", id);
  write_file(folder.path() / "t.gguf", file.bytes());
  Found result;
  result.ids = end_tokens(*GgufFile::open((folder.path() / "t.gguf").string()),
                          static_cast<std::int64_t>(tokens.size()), &result.notes);
  return result;
}

}  // namespace

TEST_CASE("end tokens: EOS, EOT and EOM end a text, each once, EOS first") {
  CHECK(found({"a", "b", "c", "d"}, {{"eos", 2}, {"eot", 1}, {"eom", 3}}).ids == Ids{2, 1, 3});
  CHECK(found({"a", "b", "c"}, {{"eos", 2}, {"eot", 2}, {"eom", 2}}).ids == Ids{2});
  CHECK(found({"a", "b"}, {{"bos", 1}, {"padding", 0}}).ids.empty());
}

TEST_CASE("end tokens: tokens known by their texts end a text, whatever the keys name") {
  for (const char* text : {"<|eot_id|>",
                           "<|im_end|>",
                           "<|end|>",
                           "<|return|>",
                           "<|call|>",
                           "<|flush|>",
                           "<|calls|>",
                           "<end_of_turn>",
                           "<|endoftext|>",
                           "</s>",
                           "<|eom_id|>",
                           "<EOT>",
                           "_<EOT>",
                           "[EOT]",
                           "[EOS]",
                           "<|end_of_text|>",
                           "<end_of_utterance>",
                           "<eos>",
                           "<turn|>",
                           "<|tool_response>",
                           "<\uFF5Cend\u2581of\u2581sentence\uFF5C>"}) {
    CAPTURE(text);
    CHECK(found({"a", text, "b"}).ids == Ids{1});
    CHECK(found({"a", text, "b"}, {{"eos", 2}}).ids == Ids{2, 1});
  }
  CHECK(found({"eot", "<|EOT_ID|>", " </s>", "<|im_start|>", "<s>"}).ids.empty());
}

TEST_CASE(
    "end tokens: of code models' tokens between files the first of a kind ends a text, or the key's") {
  CHECK(found({"<|fim_pad|>", "[PAD]", "<|repo_name|>", "<reponame>", "<|file_sep|>"}).ids ==
        Ids{0, 2, 4});
  CHECK(found({"a", "[PAD]", "b", "<REPO>", "c"}, {{"fim_pad", 0}, {"fim_rep", 2}, {"fim_sep", 4}})
            .ids == Ids{0, 2, 4});
}

TEST_CASE(
    "end tokens: beside tokens that end an answer <|end|> does not, nor </s> beside <|tool_response>") {
  CHECK(found({"<|end|>", "<|return|>", "<|call|>"}).ids == Ids{1, 2});
  CHECK(found({"<|end|>", "<|flush|>", "<|calls|>"}).ids == Ids{1, 2});
  CHECK(found({"<|end|>", "<|call|>"}).ids == Ids{0, 1});
  CHECK(found({"</s>", "<|tool_response>"}).ids == Ids{1});
}

TEST_CASE(
    "end tokens: an end token outside the vocabulary is none; a note says so unless it is written for none") {
  const Found beyond = found({"a", "b"}, {{"eos", 2}, {"eot", 0xffffffff}});
  CHECK(beyond.ids.empty());
  REQUIRE(beyond.notes.size() == 1);
  CHECK(beyond.notes[0] ==
        "tokenizer.ggml.eos_token_id is 2, outside the vocabulary of 2 tokens: no text ends by it");
}

TEST_CASE(
    "end tokens: a GGUF's configuration has its end tokens, and no BOS outside the vocabulary") {
  GgufWriter file = gguf_of("llama", 1);
  file.add_raw("tokenizer.ggml.tokens", 9,
               gguf_texts({"a", "b", "c", "<end_of_turn>", "d", "e", "f", "g"}));
  file.add("tokenizer.ggml.eos_token_id", std::uint32_t{1});
  file.add("tokenizer.ggml.eot_token_id", std::uint32_t{8});
  file.add("tokenizer.ggml.bos_token_id", std::uint32_t{0xffffffff});
  const ModelConfig config = config_of(file);
  CHECK(config.eos_token_ids == Ids{1, 3});
  CHECK(config.bos_token_id == -1);
  CHECK(config.notes.size() == 1);
}

}  // namespace test_end_tokens
