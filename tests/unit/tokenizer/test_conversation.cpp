#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/text/tokenizer/conversation.h"

namespace triescope::test_conversation {
namespace {

using json = nlohmann::ordered_json;

std::string refusal(const char* text) {
  try {
    read_conversation(json::parse(text), "talk.json");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "not refused";
}

TEST_CASE(
    "conversation: it is a list of messages, also under \"messages\", and written as it was read") {
  const std::vector<ChatMessage> right = {
      {"system", ""}, {"user", "a \"b\"\n"}, {"assistant", "é"}};
  const json list = conversation_json({right});
  CHECK(read_conversation(list, "").messages == right);
  CHECK(read_conversation({{"messages", list}, {"model", "any"}}, "").messages == right);
}

TEST_CASE(
    "conversation: what is no conversation is refused with the message, what was expected and what was found") {
  CHECK(refusal("{}").starts_with("talk.json: expected a list of messages, "));
  CHECK(refusal(R"({"messages": 3})").ends_with("; found 3"));
  CHECK(refusal("\"hello\"").ends_with("; found \"hello\""));
  CHECK(refusal("[]") == "talk.json: expected at least one message, found an empty list");
  CHECK(refusal(R"([{"role": "user", "content": "a"}, 7])") ==
        "talk.json: message 2: expected an object {\"role\": …, \"content\": …}, found 7");
  CHECK(refusal(R"([{"content": "a"}])") == "talk.json: message 1: expected a role, found none");
  CHECK(refusal(R"([{"role": "user"}])") == "talk.json: message 1: expected a content, found none");
  CHECK(refusal(R"([{"role": "usr", "content": "a"}])") ==
        "talk.json: message 1: role: expected system, user, assistant or tool, found \"usr\"");
  CHECK(refusal(R"([{"role": "user", "content": [{"type": "image"}]}])")
            .find("message 1: content: expected a text, found [") != std::string::npos);
  CHECK(refusal(R"([{"role": "user", "content": null}])").ends_with("found null"));
  CHECK(refusal(R"([{"role": "user", "content": "a", "tool_calls": []}])").find("tool_calls") !=
        std::string::npos);
}

TEST_CASE(
    "conversation: calls of tools and their answers, tools and a template are kept in order") {
  const char* const text =
      R"({"messages":[{"role":"user","content":"1 + 1?"},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"type":"function","function":)"
      R"({"name":"add","arguments":{"b":1,"a":1}}}]},)"
      R"({"role":"tool","content":"2","name":"add","tool_call_id":"x"}],)"
      R"("tools":[{"type":"function","function":{"name":"add","description":"sum"}}],)"
      R"("chat_template":"{{ tools }}"})";
  const Conversation read = read_conversation(json::parse(text), "talk.json");
  REQUIRE(read.messages.size() == 3);
  CHECK(read.messages[1].content.empty());
  CHECK(read.messages[1].more.find(R"({"b":1,"a":1})") != std::string::npos);
  CHECK(read.messages[2].more == R"({"name":"add","tool_call_id":"x"})");
  CHECK(read.template_source == "talk.json");
  const Conversation again = read_conversation(conversation_json(read), "talk.json");
  CHECK(again.messages == read.messages);
  CHECK(again.tools == read.tools);
  CHECK(again.chat_template == read.chat_template);
}

TEST_CASE("conversation: a message with another role keeps what that role may say") {
  const char* const calls =
      R"([{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"add"}}],"thinking":"hm"}])";
  ChatMessage message = read_conversation(json::parse(calls), "").messages[0];
  const ChatMessage before = message;
  give_role(message, "assistant");
  CHECK(messages_json({&message, 1}) == messages_json({&before, 1}));
  give_role(message, "tool");
  CHECK(message == ChatMessage{"tool", ""});
  ChatMessage answer{"tool", "2", R"({"name":"add","tool_call_id":"x"})"};
  give_role(answer, "user");
  CHECK(answer == ChatMessage{"user", "2"});
}

TEST_CASE("conversation: words beside calls of tools stand in place of no content") {
  ChatMessage message{"assistant", "", R"({"content":null,"tool_calls":[{"name":"add"}]})"};
  CHECK(messages_json({&message, 1})[0]["content"].is_null());
  message.content = "I add.";
  CHECK(messages_json({&message, 1})[0]["content"] == "I add.");
}

TEST_CASE("conversation: a line tells what a message says beside its text") {
  const auto line = [](const char* more) { return more_line({"assistant", "", more}); };
  CHECK(line("") == "");
  CHECK(line(R"({"content":null,"tool_calls":[{"type":"function","function":{"name":"add",)"
             R"("arguments":{"a":1}}},{"name":"now","arguments":"{}"},{"odd":3}]})") ==
        R"(calls add {"a":1}, now {}, {"odd":3})");
  CHECK(line(R"({"name":"add","tool_call_id":"x"})") == "answer of add; tool_call_id x");
  CHECK(line(R"({"thinking":"hm"})") == "thinking hm");
}

TEST_CASE("conversation: wrong calls, tools and keys are refused with what was expected") {
  CHECK(refusal(R"([{"role": "assistant", "content": "a", "tool_calls": {}}])")
            .find("tool_calls: expected a list of calls, found {}") != std::string::npos);
  CHECK(refusal(R"([{"role": "assistant", "tool_calls": [1]}])").find("found 1") !=
        std::string::npos);
  CHECK(refusal(R"([{"role": "tool", "content": "a", "name": 3}])")
            .find("name: expected a text, found 3") != std::string::npos);
  CHECK(refusal(R"([{"role": "assistant", "content": "a", "weight": 1}])")
            .find("expected role and content, tool_calls, reasoning_content, thinking alone of "
                  "role assistant, found \"weight\"") != std::string::npos);
  CHECK(refusal(R"({"messages": [{"role": "user", "content": "a"}], "tools": []})")
            .find("expected a list of tools") != std::string::npos);
  CHECK(refusal(R"({"messages": [{"role": "user", "content": "a"}], "chat_template": 1})")
            .find("chat_template: expected a text, found 1") != std::string::npos);
}

}  // namespace
}  // namespace triescope::test_conversation
