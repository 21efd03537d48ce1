#include "core/text/tokenizer/conversation.h"

#include <algorithm>

#include "core/base/error.h"

namespace triescope {
namespace {

using nlohmann::json;

constexpr const char* kRoles[] = {"system", "user", "assistant"};
constexpr std::string_view kShape = R"([{"role": "user", "content": "…"}, …])";

// A value in a message; it may be as long as a book.
std::string shown(const json& value) {
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 80) + "…";
  return text;
}

[[noreturn]] void refuse(const std::string& source, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, source + ": " + what);
}

ChatMessage read_message(const json& entry, const std::string& place) {
  if (!entry.is_object())
    refuse(place, R"(expected an object {"role": …, "content": …}, found )" + shown(entry));
  for (const auto& [key, value] : entry.items())
    if (key != "role" && key != "content")
      refuse(place, "expected role and content alone, found \"" + key +
                        "\"; tools and other parts of a message are not supported: leave it out");
  for (const char* key : {"role", "content"}) {
    if (!entry.contains(key)) refuse(place, std::string("expected a ") + key + ", found none");
    if (!entry[key].is_string())
      refuse(place, std::string(key) + ": expected a text, found " + shown(entry[key]));
  }
  ChatMessage message{entry["role"].get<std::string>(), entry["content"].get<std::string>()};
  if (std::ranges::find(kRoles, message.role) == std::ranges::end(kRoles))
    refuse(place, "role: expected system, user or assistant, found " + shown(json(message.role)));
  return message;
}

}  // namespace

std::span<const char* const> message_roles() { return kRoles; }

json conversation_json(std::span<const ChatMessage> messages) {
  json list = json::array();
  for (const ChatMessage& message : messages)
    list.push_back({{"role", message.role}, {"content", message.content}});
  return list;
}

std::vector<ChatMessage> read_conversation(const json& given, const std::string& source) {
  const bool wrapped = given.is_object() && given.contains("messages");
  const json& list = wrapped ? given["messages"] : given;
  if (!list.is_array())
    refuse(source, "expected a list of messages, " + std::string(kShape) +
                       R"(, or {"messages": that list}; found )" + shown(list));
  if (list.empty()) refuse(source, "expected at least one message, found an empty list");
  std::vector<ChatMessage> messages;
  for (const json& entry : list)
    messages.push_back(
        read_message(entry, source + ": message " + std::to_string(messages.size() + 1)));
  return messages;
}

}  // namespace triescope
