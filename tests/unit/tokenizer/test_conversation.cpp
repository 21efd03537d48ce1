#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/text/tokenizer/conversation.h"

namespace triescope::test_conversation {
namespace {

using nlohmann::json;

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
    "a conversation is a list of messages, also under \"messages\", and written as it was read") {
  const std::vector<ChatMessage> right = {
      {"system", ""}, {"user", "a \"b\"\n"}, {"assistant", "é"}};
  const json list = conversation_json(right);
  CHECK(read_conversation(list, "") == right);
  CHECK(read_conversation({{"messages", list}, {"model", "any"}}, "") == right);
}

TEST_CASE(
    "what is no conversation is refused with the message, what was expected and what was found") {
  CHECK(refusal("{}").starts_with("talk.json: expected a list of messages, "));
  CHECK(refusal(R"({"messages": 3})").ends_with("; found 3"));
  CHECK(refusal("\"hello\"").ends_with("; found \"hello\""));
  CHECK(refusal("[]") == "talk.json: expected at least one message, found an empty list");
  CHECK(refusal(R"([{"role": "user", "content": "a"}, 7])") ==
        "talk.json: message 2: expected an object {\"role\": …, \"content\": …}, found 7");
  CHECK(refusal(R"([{"content": "a"}])") == "talk.json: message 1: expected a role, found none");
  CHECK(refusal(R"([{"role": "user"}])") == "talk.json: message 1: expected a content, found none");
  CHECK(refusal(R"([{"role": "usr", "content": "a"}])") ==
        "talk.json: message 1: role: expected system, user or assistant, found \"usr\"");
  CHECK(refusal(R"([{"role": "user", "content": [{"type": "image"}]}])")
            .find("message 1: content: expected a text, found [") != std::string::npos);
  CHECK(refusal(R"([{"role": "user", "content": null}])").ends_with("found null"));
  CHECK(refusal(R"([{"role": "user", "content": "a", "tool_calls": []}])").find("tool_calls") !=
        std::string::npos);
}

}  // namespace
}  // namespace triescope::test_conversation
