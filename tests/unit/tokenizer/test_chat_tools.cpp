// Conversations with tools, rendered as transformers renders them (tests/golden/chat_tools.py).
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/tokenizer/chat_template.h"
#include "core/text/tokenizer/conversation.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace triescope::tokenizer::test_chat_tools {
namespace {

using json = nlohmann::ordered_json;

TEST_CASE("chat tools: models' templates render calls and answers as transformers renders them") {
  const auto folder = test::source_dir() / "tests/golden";
  const json golden = json::parse(test::read_file(folder / "chat_tools.json"));
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, text] : golden["texts"].items()) texts.emplace_back(name, text);
  int rendered = 0;
  for (const auto& model : golden["templates"]) {
    const std::string name = model["name"];
    CAPTURE(name);
    const ChatTemplate chat(test::read_file(folder / "chat_templates" / (name + ".jinja")), name);
    for (std::size_t i = 0; i < golden["conversations"].size(); ++i) {
      CAPTURE(i);
      const json& expected = model["results"][i];
      const Conversation conversation = read_conversation(golden["conversations"][i], "golden");
      std::string text;
      bool refused = false;
      try {
        text = chat.render(conversation, true, texts);
      } catch (const Error& error) {
        refused = true;
        text = error.what();
      }
      CAPTURE(text);
      CHECK(refused == !expected.contains("text"));
      if (refused || !expected.contains("text")) continue;
      CHECK(text == expected["text"].get<std::string>());
      ++rendered;
    }
  }
  CHECK(rendered > 60);
}

TEST_CASE("chat tools: a template of one's own takes the place of the model's") {
  const ChatTemplate chat("{{ bos_token }}{{ tools | length }}{{ messages[0].content }}", "t");
  const Conversation conversation{.messages = {{"user", "hi"}}, .tools = R"([{"a":1},{}])"};
  CHECK(chat.render(conversation, true, {{"bos_token", "<s>"}}) == "<s>2hi");
}

}  // namespace
}  // namespace triescope::tokenizer::test_chat_tools
