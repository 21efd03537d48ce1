// The tokenizer of a model that comes without one, and how it is told that there is none.
#include <doctest/doctest.h>

#include "core/text/tokenizer/id_tokenizer.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/format_test_util.h"

namespace triescope::test_id_tokenizer {
namespace {

using test::refusal;
using Ids = std::vector<std::int32_t>;

TEST_CASE("id tokenizer: tokens without a tokenizer are shown as their ids") {
  const auto tokenizer = make_id_tokenizer("/models/some", 5, 1, {2, 4});
  CHECK_FALSE(tokenizer->encodes_text());
  CHECK(tokenizer->vocab_size() == 5);
  CHECK(tokenizer->piece(0) == "<0>");
  CHECK(tokenizer->piece(4) == "<4>");
  CHECK(tokenizer->bos_token_id() == 1);
  CHECK(tokenizer->eos_token_ids() == Ids{2, 4});
  CHECK(tokenizer->description() == "no tokenizer, 5 ids");
  CHECK_FALSE(tokenizer->has_chat_template());
  const Ids all = {0, 1, 2, 3, 4};
  CHECK(tokenizer->decode(all) == "<0><1><2><3><4>");
  CHECK(tokenizer->decode(all, /*skip_special_tokens=*/true) == "<0><3>");
  for (const std::int32_t id : all)
    CHECK(tokenizer->is_special(id) == (id == 1 || id == 2 || id == 4));
  StreamDecoder stream(*tokenizer);
  CHECK(stream.push(3) + stream.push(0) + stream.finish() == "<3><0>");
  CHECK_FALSE(make_id_tokenizer("", 5, -1, {})->is_special(0));
}

TEST_CASE(
    "id tokenizer: without a tokenizer an id outside the vocabulary is refused, also among special ones") {
  const auto tokenizer = make_id_tokenizer("/models/some", 5, -1, {});
  for (const std::int32_t id : {-1, 5}) {
    const std::string expected =
        "token id " + std::to_string(id) + " is outside the vocabulary: expected 0 to 4";
    CHECK(refusal(ErrorCode::kInvalidArgument, [&] { (void)tokenizer->piece(id); }) == expected);
    const Ids ids = {0, id};
    CHECK(refusal(ErrorCode::kInvalidArgument, [&] { tokenizer->decode(ids, true); }) == expected);
  }
}

TEST_CASE(
    "id tokenizer: without a tokenizer a text is refused with what was looked for and what to do") {
  const auto folder = make_id_tokenizer("/models/some", 5, -1, {});
  const ChatMessage message{"user", "hello"};
  for (const std::string& why :
       {refusal(ErrorCode::kNotSupported, [&] { folder->encode("hello"); }),
        refusal(ErrorCode::kNotSupported,
                [&] { folder->apply_chat_template({{message}}, true); })}) {
    CHECK(
        why.starts_with("/models/some: no tokenizer was found (looked for tokenizer.json, "
                        "vocab.json with merges.txt, and tokenizer.model)"));
    CHECK(why.find("--prompt-ids 1,2,3") != std::string::npos);
  }
  const auto gguf = make_id_tokenizer("/models/some.gguf", 5, -1, {});
  CHECK(refusal(ErrorCode::kNotSupported, [&] {
          gguf->encode("hello");
        }).find("looked for tokenizer.ggml.tokens in its metadata") != std::string::npos);
}

TEST_CASE("id tokenizer: a folder has a tokenizer by its files, a GGUF file by its metadata") {
  const test::TempDir folder;
  const std::string path = folder.path().string();
  CHECK_FALSE(has_tokenizer(path));
  test::write_file(folder.path() / "vocab.json", "{}");
  CHECK_FALSE(has_tokenizer(path));
  test::write_file(folder.path() / "merges.txt", "");
  CHECK(has_tokenizer(path));
  std::filesystem::remove(folder.path() / "vocab.json");
  CHECK_FALSE(has_tokenizer(path));
  test::write_file(folder.path() / "tokenizer.json", "broken");
  CHECK(has_tokenizer(path));  // there, whatever it holds
  CHECK(has_tokenizer((folder.path() / "tokenizer.json").string()));

  test::GgufWriter writer;
  writer.add("general.architecture", std::string("llama"));
  const auto gguf = folder.path() / "model.gguf";
  test::write_file(gguf, writer.bytes());
  CHECK_FALSE(has_tokenizer(gguf.string()));
  writer.add("tokenizer.ggml.tokens", std::string("not even a list"));
  test::write_file(gguf, writer.bytes());
  CHECK(has_tokenizer(gguf.string()));
  CHECK(refusal(ErrorCode::kNotFound, [&] {
          has_tokenizer((folder.path() / "absent.gguf").string());
        }).find("absent.gguf") != std::string::npos);
}

}  // namespace
}  // namespace triescope::test_id_tokenizer
