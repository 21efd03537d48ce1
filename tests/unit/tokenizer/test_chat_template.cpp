#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "core/base/error.h"
#include "core/text/tokenizer/chat_template.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace triescope::tokenizer::test_chat_template {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

// Made by tests/golden/chat_templates.py with transformers.
const nlohmann::json& golden() {
  static const nlohmann::json kGolden = nlohmann::json::parse(
      test::read_file(test::source_dir() / "tests/golden/chat_templates.json"));
  return kGolden;
}

Texts texts() {
  Texts result;
  for (const auto& [name, text] : golden()["texts"].items()) result.emplace_back(name, text);
  return result;
}

std::vector<ChatMessage> conversation(std::size_t index) {
  std::vector<ChatMessage> messages;
  for (const auto& message : golden()["conversations"][index])
    messages.push_back({message["role"], message["content"]});
  return messages;
}

// What came of it: the text, or the error.
struct Outcome {
  std::string text;
  std::optional<ErrorCode> code;
};

Outcome outcome(const std::string& source, const std::vector<ChatMessage>& messages,
                bool generation) {
  try {
    return {ChatTemplate(source, "test").render({messages}, generation, texts()), std::nullopt};
  } catch (const Error& error) {
    return {error.what(), error.code()};
  }
}

Outcome outcome(const std::string& source) { return outcome(source, {{"user", "Hi"}}, true); }

TEST_CASE("chat template: Models' chat templates render as transformers renders them") {
  for (const auto& model : golden()["templates"]) {
    const std::string name = model["name"];
    const std::string source =
        test::read_file(test::source_dir() / "tests/golden/chat_templates" / (name + ".jinja"));
    for (std::size_t i = 0; i < model["results"].size(); ++i)
      for (const bool generation : {false, true}) {
        CAPTURE(name);
        CAPTURE(i);
        CAPTURE(generation);
        const auto& expected = model["results"][i][generation ? 1 : 0];
        const Outcome got = outcome(source, conversation(i), generation);
        CAPTURE(got.text);
        if (expected.contains("text")) {
          CHECK_FALSE(got.code);
          CHECK(got.text == expected["text"].get<std::string>());
        } else {
          CHECK(got.code);
        }
      }
  }
}

TEST_CASE(
    "chat template: A template's own refusal is the caller's error, in the template's words") {
  const Outcome got = outcome("{{ raise_exception('Roles must alternate: ' ~ messages[0].role) }}");
  CHECK(got.code == ErrorCode::kInvalidArgument);
  CHECK(got.text.find("Roles must alternate: user") != std::string::npos);
}

TEST_CASE(
    "chat template: One template renders in many threads and its calls leave no trace in the next") {
  const ChatTemplate shared(
      "{% set ns = namespace(n=0) %}{% for m in messages %}"
      "{% set ns.n = ns.n + 1 %}{{ m.content }}{{ ns.n }}{% endfor %}",
      "test");
  std::vector<std::thread> threads;
  std::vector<std::string> results(4);
  for (std::string& result : results)
    threads.emplace_back([&] {
      const std::vector<ChatMessage> messages = {{"user", "a"}, {"assistant", "b"}};
      for (int i = 0; i < 50; ++i) result = shared.render({messages}, true, {});
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) CHECK(result == "a1b2");
}

}  // namespace
}  // namespace triescope::tokenizer::test_chat_template
