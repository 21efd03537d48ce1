// Ids and texts as Hugging Face's `tokenizers` makes them (tests/golden/make_tokenizer_goldens.py).
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/text/tokenizer/tokenizer.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"

namespace triescope::test_goldens {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

const json& golden() {
  static const json kGolden =
      json::parse(test::read_file(test::source_dir() / "tests/golden/tokenizer_goldens.json"));
  return kGolden;
}

void check(const Tokenizer& tokenizer, const json& expected) {
  const auto& texts = golden()["texts"];
  REQUIRE(texts.size() == expected["ids"].size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string text = texts[i];
    CAPTURE(text);
    const Ids ids = expected["ids"][i];
    CHECK(tokenizer.encode(text) == ids);
    CHECK(tokenizer.encode(text, false) == expected["plain"][i].get<Ids>());
    CHECK(tokenizer.decode(ids) == expected["decoded"][i].get<std::string>());
    StreamDecoder stream(tokenizer);
    std::string streamed;
    for (const auto id : ids) streamed += stream.push(id);
    CHECK(streamed + stream.finish() == expected["decoded"][i].get<std::string>());
  }
}

void check_real(const std::string& name, const std::filesystem::path& path) {
  CAPTURE(name);
  for (const auto& entry : golden()["real"])
    if (entry["name"] == name) return check(*load_tokenizer(path.string()), entry);
  FAIL("no golden");
}

TEST_CASE("goldens: Small tokenizers of every kind give Hugging Face's ids and texts") {
  const test::TempDir folder;
  for (const auto& entry : golden()["small"]) {
    const std::string name = entry["name"];
    CAPTURE(name);
    const auto path = folder.path() / "tokenizer.json";
    std::ofstream(path, std::ios::binary) << entry["tokenizer"].dump();
    check(*load_tokenizer(path.string()), entry);
  }
}

TEST_CASE("goldens: SmolLM2 from GGUF gives Hugging Face's ids and texts") {
  const auto path = test::model_path();
  if (!path) TRIESCOPE_SKIP("no model");
  check_real("smollm2", *path);
}

void check_llama_cpp_vectors(const std::filesystem::path& data) {
  for (const auto& [vectors, folder] :
       {std::pair("gpt-2", "gpt2"), std::pair("llama-spm", "llama2"), std::pair("phi-3", "phi3")}) {
    CAPTURE(vectors);
    const auto tokenizer = load_tokenizer((data / "tokenizers" / folder).string());
    const std::string inputs =
        test::read_file(data / "tokenizers/vectors" / (std::string(vectors) + ".inp"));
    std::istringstream outputs(
        test::read_file(data / "tokenizers/vectors" / (std::string(vectors) + ".out")));
    const std::string separator = "\n__ggml_vocab_test__\n";
    int cases = 0;
    for (std::size_t at = 0; at <= inputs.size(); ++cases) {
      const auto end = std::min(inputs.find(separator, at), inputs.size());
      const std::string text = inputs.substr(at, end - at);
      std::string line;
      if (!std::getline(outputs, line)) break;
      std::istringstream numbers(line);
      Ids expected;
      for (std::int32_t id = 0; numbers >> id;) expected.push_back(id);
      CAPTURE(text);
      CHECK(tokenizer->encode(text, false) == expected);
      at = end + separator.size();
    }
    CHECK(cases > 40);
  }
}

TEST_CASE("goldens: model folders give Hugging Face's ids and texts") {
  const auto folder = test::source_dir() / "tests" / "fixtures" / "tiny_llama";
  const auto tokenizer = load_tokenizer(folder.string());
  const json vectors = json::parse(test::read_file(folder / "golden.json"))["vectors"];
  REQUIRE(vectors.size() > 30);
  for (const auto& vector : vectors) {
    const std::string text = vector["text"];
    CAPTURE(text);
    CHECK(tokenizer->encode(text) == vector["ids"].get<Ids>());
    CHECK(tokenizer->encode(text, false) == vector["plain"].get<Ids>());
    CHECK(tokenizer->decode(vector["ids"].get<Ids>()) == vector["decoded"].get<std::string>());
  }
  // GPT-2, Llama-2, Phi-3 and TinyStories, and llama.cpp's conformance vectors, where the test data
  // is there.
  const auto data = test::data_dir();
  if (!data) return;
  for (const char* name : {"gpt2", "llama2", "phi3"}) check_real(name, *data / "tokenizers" / name);
  check_real("tinystories", *data / "models" / "TinyStories-656K");
  check_llama_cpp_vectors(*data);
}

}  // namespace
}  // namespace triescope::test_goldens
