// Folders whose files say things about added and special tokens, as transformers opens them
// (tests/golden/tokenizer_folders.py).
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/unit/files/format_test_util.h"

namespace triescope::test_tokenizer_folders {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

const json& golden() {
  static const json kGolden =
      json::parse(test::read_file(test::source_dir() / "tests/golden/tokenizer_folders.json"));
  return kGolden;
}

// Writes the folder of a case.
void write(const std::filesystem::path& folder, const json& from) {
  for (const auto& [name, text] : from["files"].items())
    test::write_file(folder / name, text.get<std::string>());
  test::write_file(folder / "chat_template.jinja", golden()["template"].get<std::string>());
  const std::string base = from["base"];
  if (base != "vocab.json")
    return test::write_file(folder / "tokenizer.json", golden()["bases"][base].dump());
  test::write_file(folder / "vocab.json", golden()["vocab.json"].dump());
  test::write_file(folder / "merges.txt", golden()["merges.txt"].get<std::string>());
}

TEST_CASE("tokenizer folders: A folder's files name and add tokens as transformers has them") {
  REQUIRE(golden()["cases"].size() > 100);
  for (const json& expected : golden()["cases"]) {
    const std::string name = expected["name"];
    CAPTURE(name);
    const test::TempDir folder;
    write(folder.path(), expected);
    const auto tokenizer = load_tokenizer(folder.path().string());
    CHECK(tokenizer->vocab_size() == expected["size"].get<int>());
    CHECK(tokenizer->bos_token_id() == expected["bos"].get<int>());
    CHECK(tokenizer->eos_token_ids() == expected["eos"].get<Ids>());
    const std::vector<ChatMessage> messages = {{"user", "hi"}};
    CHECK(tokenizer->apply_chat_template({messages}, true) ==
          expected["rendered"].get<std::string>());
    for (std::size_t i = 0; i < golden()["texts"].size(); ++i) {
      const std::string text = golden()["texts"][i];
      CAPTURE(text);
      const Ids ids = expected["ids"][i];
      CHECK(tokenizer->encode(text) == ids);
      CHECK(tokenizer->encode(text, false) == expected["plain"][i].get<Ids>());
      CHECK(tokenizer->decode(ids) == expected["decoded"][i].get<std::string>());
      CHECK(tokenizer->decode(ids, true) == expected["skipped"][i].get<std::string>());
    }
  }
}

// A folder of three tokens.
class Folder {
 public:
  Folder() {
    write("vocab.json", R"({"a":0,"b":1,"c":2})");
    write("merges.txt", "#version: 0.2\n");
  }
  void write(const char* name, const std::string& text) {
    test::write_file(folder_.path() / name, text);
  }
  std::unique_ptr<Tokenizer> open() const { return load_tokenizer(path()); }
  std::string path() const { return folder_.path().string(); }
  // Code and message of the refusal.
  std::pair<ErrorCode, std::string> refusal() const {
    try {
      open();
    } catch (const Error& error) {
      return {error.code(), error.what()};
    }
    return {ErrorCode::kCancelled, "opened"};
  }

 private:
  test::TempDir folder_;
};

TEST_CASE("tokenizer folders: a file that names tokens wrongly is refused by its own name") {
  for (const auto& [name, text, part] :
       {std::tuple("tokenizer_config.json", R"({"added_tokens_decoder":[1]})", "by their ids"),
        {"tokenizer_config.json", R"({"added_tokens_decoder":{"x":{"content":"t"}}})", "found 'x'"},
        {"tokenizer_config.json", R"({"added_tokens_decoder":{"3":"t"}})", "3: expected a token"},
        {"tokenizer_config.json", R"({"added_tokens_decoder":{"3":{"lstrip":true}}})", "content"},
        {"tokenizer_config.json", R"({"extra_special_tokens":{"t":3}})", "t: expected a token"},
        {"tokenizer_config.json", R"({"extra_special_tokens":[3]})", "a list of tokens"},
        {"tokenizer_config.json", R"([])", "expected a JSON object"},
        {"special_tokens_map.json", R"({"additional_special_tokens":7})", "expected tokens"},
        {"added_tokens.json", R"({"t":"3"})", "the id of 't'"}}) {
    CAPTURE(text);
    Folder folder;
    folder.write(name, text);
    const auto [code, message] = folder.refusal();
    CHECK(code == ErrorCode::kCorruption);
    CAPTURE(message);
    CHECK(message.find(std::string("/") + name + ":") != std::string::npos);
    CHECK(message.find(part) != std::string::npos);
  }
}

TEST_CASE("tokenizer folders: names of special tokens are counted") {
  Folder folder;
  json names = json::object();
  for (int i = 0; i < 1000; ++i) names["t" + std::to_string(i)] = "a";
  folder.write("tokenizer_config.json", json{{"extra_special_tokens", names}}.dump());
  CHECK_NOTHROW(folder.open());
  names["one_more"] = "a";
  folder.write("tokenizer_config.json", json{{"extra_special_tokens", names}}.dump());
  CHECK(folder.refusal().second.find("at most 1000 names") != std::string::npos);
}

TEST_CASE(
    "tokenizer folders: an added token is no longer than any other, and takes no other's id") {
  Folder folder;
  folder.write("added_tokens.json", json{{std::string(1025, 'x'), 3}}.dump());
  CHECK(folder.refusal().second.find("1024") != std::string::npos);
  folder.write("added_tokens.json", R"({"t":3})");
  CHECK(folder.open()->encode("at", false) == Ids{0, 3});
  folder.write("vocab.json", R"({"a":0,"b":1,"c":3})");  // three tokens: the next id is 3
  CHECK(folder.refusal().second.find("without gaps") != std::string::npos);
}

TEST_CASE("tokenizer folders: an end of text that the model has no row for ends nothing") {
  Folder folder;
  folder.write("config.json", R"({"model_type":"gpt2","vocab_size":3})");
  CHECK(folder.open()->eos_token_ids().empty());
  folder.write("config.json", R"({"model_type":"gpt2","vocab_size":4})");
  CHECK(folder.open()->eos_token_ids() == Ids{3});
}

TEST_CASE("tokenizer folders: a chat template's error names the file that the template stands in") {
  Folder folder;
  const std::vector<ChatMessage> messages = {{"user", "hi"}};
  const auto message = [&] {
    try {
      return folder.open()->apply_chat_template({messages}, true);
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  CHECK(message().find(folder.path() + ": this model has no chat template") == 0);
  folder.write("tokenizer_config.json", R"({"chat_template":"{{ raise_exception('no') }}"})");
  CHECK(message().find(folder.path() + "/tokenizer_config.json: ") == 0);
  folder.write("tokenizer_config.json",
               R"({"chat_template":{"default":"{% nothing %}","tools":"x"}})");
  CHECK(message().find(folder.path() + "/tokenizer_config.json: ") == 0);
  folder.write("chat_template.jinja", "{{ 1 / 0 }}");
  CHECK(message().find(folder.path() + "/chat_template.jinja: ") == 0);
}

}  // namespace
}  // namespace triescope::test_tokenizer_folders
