// Renders many chat templates, for the scripts in tests/golden that compare with other
// implementations: chat_template_dump IN.json OUT.json, where IN has messages, texts and templates,
// and OUT gets {"text": …} or {"error": …} for each template.
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/tokenizer/chat_template.h"

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: chat_template_dump IN.json OUT.json\n");
    return 2;
  }
  using triescope::ChatMessage;
  std::ifstream file(arguments[1]);
  const auto in = nlohmann::ordered_json::parse(file);
  // As it is, and not as read_conversation would have it: the templates are what is asked.
  triescope::Conversation conversation;
  for (auto message : in["messages"]) {
    ChatMessage one{message["role"], ""};
    message.erase("role");
    if (message.contains("content") && message["content"].is_string()) {
      one.content = message["content"];
      message.erase("content");
    }
    if (!message.empty()) one.more = message.dump();
    conversation.messages.push_back(one);
  }
  if (in.contains("tools")) conversation.tools = in["tools"].dump();
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, text] : in["texts"].items()) texts.emplace_back(name, text);
  auto out = nlohmann::json::array();
  for (const auto& source : in["templates"]) {
    try {
      const triescope::tokenizer::ChatTemplate parsed(source.get<std::string>(), "template");
      out.push_back({{"text", parsed.render(conversation, true, texts)}});
    } catch (const triescope::Error& error) {
      out.push_back({{"error", error.what()}});
    }
  }
  std::ofstream(arguments[2]) << out.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}
