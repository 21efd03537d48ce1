// Unigram and WordPiece as `tokenizers` has them, and SentencePiece's own models
// (tests/golden/tokenizer_models.py).
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/base64.h"
#include "core/text/tokenizer/spec.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace triescope::test_tokenizer_models {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

const json& golden() {
  static const json kGolden =
      json::parse(test::read_file(test::source_dir() / "tests/golden/tokenizer_models.json"));
  return kGolden;
}

std::string model_bytes(const std::string& name) {
  for (const auto& entry : golden()["sentencepiece"])
    if (entry["name"] == name) return *from_base64(entry["model"].get<std::string>());
  return "";
}

std::unique_ptr<Tokenizer> opened(const std::string& bytes) {
  return tokenizer::make_tokenizer(tokenizer::spec_from_sentencepiece(bytes, "tokenizer.model"));
}

TEST_CASE("tokenizer models: Unigram and WordPiece give Hugging Face's ids and texts") {
  const auto texts = golden()["texts"].get<std::vector<std::string>>();
  REQUIRE(golden()["tokenizers"].size() == 7);
  for (const auto& entry : golden()["tokenizers"]) {
    CAPTURE(entry["name"].get<std::string>());
    const auto tokenizer = tokenizer::make_tokenizer(
        tokenizer::spec_from_json(entry["tokenizer"].dump(), "tokenizer.json"));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CAPTURE(texts[i]);
      const Ids ids = entry["ids"][i];
      CHECK(tokenizer->encode(texts[i]) == ids);
      CHECK(tokenizer->encode(texts[i], false) == entry["plain"][i].get<Ids>());
      CHECK(tokenizer->decode(ids) == entry["decoded"][i].get<std::string>());
    }
  }
}

TEST_CASE("tokenizer models: a tokenizer.model gives SentencePiece's ids and texts") {
  REQUIRE(golden()["sentencepiece"].size() == 6);
  for (const auto& entry : golden()["sentencepiece"]) {
    CAPTURE(entry["name"].get<std::string>());
    const auto tokenizer = opened(model_bytes(entry["name"]));
    const Ids unknown = tokenizer->encode("<unk>", false);
    REQUIRE(unknown.size() == 1);
    const auto texts = entry["texts"].get<std::vector<std::string>>();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CAPTURE(texts[i]);
      const Ids ids = entry["ids"][i];
      CHECK(tokenizer->encode(texts[i]) == ids);
      // SentencePiece writes another text for what it does not know.
      if (std::find(ids.begin(), ids.end(), unknown[0]) == ids.end())
        CHECK(tokenizer->decode(ids) == entry["decoded"][i].get<std::string>());
    }
  }
}

TEST_CASE("tokenizer models: a control symbol in a text is the symbol, and opens no new word") {
  const auto tokenizer = opened(model_bytes("sp-bpe-llama"));
  const Ids bos = tokenizer->encode("<s>", false);
  REQUIRE(bos.size() == 1);
  CHECK(bos[0] == tokenizer->bos_token_id());
  CHECK(tokenizer->is_special(bos[0]));
  const Ids word = tokenizer->encode("the", false), behind = tokenizer->encode("<s>the", false);
  CHECK(tokenizer->piece(word[0]).starts_with(" t"));
  REQUIRE(behind.size() > 1);
  CHECK(tokenizer->piece(behind[1]).starts_with("t"));
}

TEST_CASE("tokenizer models: pieces of a text joined are the text") {
  const std::string text = "  the caf\xC3\xA9 <tool> 12 \xE4\xBD\xA0";
  const auto joined = [&](const Tokenizer& tokenizer) {
    std::string all;
    for (const std::int32_t id : tokenizer.encode(text, false)) all += tokenizer.piece(id);
    return all;
  };
  CHECK(joined(*opened(model_bytes("sp-bpe-llama"))) == " " + text);
  CHECK(joined(*opened(model_bytes("sp-unigram-llama"))) == " " + text);
}

TEST_CASE(
    "tokenizer models: a folder with tokenizer.model alone opens, with what stands beside it") {
  const test::TempDir folder;
  std::ofstream(folder.path() / "tokenizer.model", std::ios::binary) << model_bytes("sp-bpe-llama");
  const auto open = [&](const char* config) {
    std::ofstream(folder.path() / "tokenizer_config.json") << config;
    return load_tokenizer(folder.path().string());
  };
  const auto plain = open("{}");
  CHECK(plain->description() == "SentencePiece BPE, tokenizer.model, 380 tokens");
  CHECK(plain->encode("the") == plain->encode("the", false));
  CHECK(plain->eos_token_ids() == Ids{2});
  const auto with_bos = open(R"({"add_bos_token": true, "bos_token": "<s>", "legacy": true})");
  CHECK(with_bos->encode("the")[0] == with_bos->bos_token_id());
  // legacy: every part between special tokens begins with a space sign.
  CHECK(with_bos->decode(with_bos->encode("</s>the", false)) == "</s> the");
  const auto bare = open(R"({"add_prefix_space": false})");
  CHECK(bare->piece(bare->encode("the", false)[0]).starts_with("t"));
  CHECK(bare->decode(bare->encode(" the")) == " the");
}

TEST_CASE("tokenizer models: a broken tokenizer.model is refused with what was found") {
  const auto refused = [](const std::string& bytes, ErrorCode code = ErrorCode::kCorruption) {
    return test::refusal(code, [&] { opened(bytes); });
  };
  CHECK(refused("").find("no pieces") != std::string::npos);
  const std::string right = model_bytes("sp-unigram-bare");
  CHECK(refused(right.substr(0, right.size() / 2)).find("more bytes, found") != std::string::npos);
  // A tiktoken file, as Llama 3's own folders call tokenizer.model.
  CHECK(refused("IQ== 0\nIg== 1\n").starts_with("tokenizer.model: "));
  const std::string unknown("\x0A\x0E\x0A\x05<unk>\x15\0\0\0\0\x18\x02", 16);
  CHECK(refused(unknown + unknown).find("'<unk>' again") != std::string::npos);
  CHECK(refused(std::string("\x0A\x05\x0A\x01x\x18\x01", 7)).find("expected an unknown piece") !=
        std::string::npos);
  // Trainer's model type 3: whole words.
  CHECK(refused(unknown + std::string("\x12\x02\x18\x03", 4), ErrorCode::kNotSupported)
            .find("type 3") != std::string::npos);
}

TEST_CASE("tokenizer models: what a tokenizer.json says wrongly of them is refused") {
  const auto refused = [](const char* model, ErrorCode code = ErrorCode::kCorruption) {
    return test::refusal(code, [&] {
      tokenizer::make_tokenizer(
          tokenizer::spec_from_json(std::string(R"({"model": )") + model + "}", "t.json"));
    });
  };
  CHECK(refused(R"({"type": "Unigram", "vocab": [], "unk_id": 0})").find("found []") !=
        std::string::npos);
  CHECK(refused(R"({"type": "Unigram", "vocab": [["a", "b"]]})").find("entry 0") !=
        std::string::npos);
  CHECK(refused(R"({"type": "Unigram", "vocab": [["a", -1]], "unk_id": 1})").find("found 1") !=
        std::string::npos);
  CHECK(refused(R"({"type": "Unigram", "vocab": [["a", NaN]], "unk_id": 0})").find("finite") !=
        std::string::npos);
  CHECK(refused(R"({"type": "WordPiece", "vocab": {"a": 0}, "unk_token": "[UNK]"})")
            .find("unk_token") != std::string::npos);
  CHECK(refused(R"({"type": "WordLevel", "vocab": {"a": 0}})", ErrorCode::kNotSupported)
            .find("WordLevel") != std::string::npos);
  const auto without = tokenizer::make_tokenizer(tokenizer::spec_from_json(
      R"({"model": {"type": "Unigram", "vocab": [["a", -1]]}})", "t.json"));
  CHECK(without->encode("aa") == Ids{0, 0});
  CHECK(test::refusal(ErrorCode::kNotSupported, [&] { without->encode("ab"); }).find("lacks 'b'") !=
        std::string::npos);
}

}  // namespace
}  // namespace triescope::test_tokenizer_models
