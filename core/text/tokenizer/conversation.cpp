#include "core/text/tokenizer/conversation.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/files/json.h"

namespace triescope {
namespace {

using nlohmann::ordered_json;

constexpr const char* kRoles[] = {"system", "user", "assistant", "tool"};
constexpr std::string_view kShape = R"([{"role": "user", "content": "…"}, …])";

// As an error quotes it: it may be as long as a book.
std::string shown(const ordered_json& value) {
  std::string text = dump_json(value, -1, /*ascii=*/true);
  if (text.size() > 80) text = text.substr(0, 80) + "…";
  return text;
}

[[noreturn]] void refuse(const std::string& source, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, source + ": " + what);
}

// The keys that a message may have beside role and content.
std::vector<std::string_view> keys_of(std::string_view role) {
  if (role == "assistant") return {"tool_calls", "reasoning_content", "thinking"};
  if (role == "tool") return {"name", "tool_call_id"};
  return {};
}

void check_more(const std::string& role, const std::string& key, const ordered_json& value,
                const std::string& place) {
  const std::vector<std::string_view> allowed = keys_of(role);
  if (std::ranges::find(allowed, key) == allowed.end()) {
    std::string known = "role and content";
    for (const std::string_view name : allowed) known += ", " + std::string(name);
    refuse(place, "expected " + known + " alone of role " + role + ", found \"" + key +
                      "\"; leave it out");
  }
  if (key != "tool_calls") {
    if (!value.is_string()) refuse(place, key + ": expected a text, found " + shown(value));
    return;
  }
  if (!value.is_array() || value.empty())
    refuse(place, "tool_calls: expected a list of calls, found " + shown(value));
  for (const ordered_json& call : value)
    if (!call.is_object())
      refuse(place,
             R"(tool_calls: expected {"type": "function", "function": {…}}, found )" + shown(call));
}

ChatMessage read_message(const ordered_json& entry, const std::string& place) {
  if (!entry.is_object())
    refuse(place, R"(expected an object {"role": …, "content": …}, found )" + shown(entry));
  if (!entry.contains("role")) refuse(place, "expected a role, found none");
  if (!entry["role"].is_string())
    refuse(place, "role: expected a text, found " + shown(entry["role"]));
  ChatMessage message{entry["role"].get<std::string>(), ""};
  if (std::ranges::find(kRoles, message.role) == std::ranges::end(kRoles))
    refuse(place, "role: expected system, user, assistant or tool, found " +
                      shown(ordered_json(message.role)));
  ordered_json more = ordered_json::object();
  for (const auto& [key, value] : entry.items()) {
    if (key == "role" || key == "content") continue;
    check_more(message.role, key, value, place);
    more[key] = value;
  }
  // A call of a tool may stand without words.
  const bool calls = more.contains("tool_calls");
  if (!entry.contains("content") && !calls) refuse(place, "expected a content, found none");
  const ordered_json content = entry.value("content", ordered_json());
  if (content.is_null() && calls && entry.contains("content"))
    more["content"] = nullptr;
  else if (content.is_string())
    message.content = content.get<std::string>();
  else if (entry.contains("content"))
    refuse(place, "content: expected a text, found " + shown(content));
  if (!more.empty()) message.more = dump_json(more);
  return message;
}

}  // namespace

std::span<const char* const> message_roles() { return kRoles; }

void give_role(ChatMessage& message, const std::string& role) {
  if (role == message.role) return;
  message.role = role;
  if (message.more.empty()) return;
  const std::vector<std::string_view> allowed = keys_of(role);
  ordered_json kept = ordered_json::object();
  const ordered_json said = formats::parse_ordered_json(message.more, "a message");
  for (const auto& [key, value] : said.items())
    if (std::ranges::find(allowed, key) != allowed.end()) kept[key] = value;
  if (kept.contains("tool_calls") && message.content.empty()) kept["content"] = nullptr;
  message.more = kept.empty() ? "" : dump_json(kept);
}

bool take_out_calls(ChatMessage& message) {
  if (message.more.empty()) return false;
  ordered_json more = formats::parse_ordered_json(message.more, "a message");
  if (more.erase("tool_calls") == 0) return false;
  message.more = more.empty() ? "" : dump_json(more);
  return true;
}

std::string more_line(const ChatMessage& message) {
  if (message.more.empty()) return "";
  std::string line;
  const ordered_json said = formats::parse_ordered_json(message.more, "a message");
  for (const auto& [key, value] : said.items()) {
    if (key == "content") continue;
    if (!line.empty()) line += "; ";
    if (key != "tool_calls") {
      line += (key == "name" ? "answer of" : key) + " " + json_text(value);
      continue;
    }
    std::string calls;
    for (const ordered_json& call : value) {
      const ordered_json& function = call.contains("function") ? call["function"] : call;
      calls += calls.empty() ? "calls " : ", ";
      if (!function.is_object() || !function.contains("name") || !function["name"].is_string()) {
        calls += dump_json(call);
        continue;
      }
      calls += function["name"].get<std::string>();
      if (!function.contains("arguments")) continue;
      const ordered_json& given = function["arguments"];
      calls += " " + json_text(given);
    }
    line += calls;
  }
  return line;
}

ordered_json messages_json(std::span<const ChatMessage> messages) {
  ordered_json list = ordered_json::array();
  for (const ChatMessage& message : messages) {
    ordered_json entry = {{"role", message.role}, {"content", message.content}};
    if (!message.more.empty()) entry.update(formats::parse_ordered_json(message.more, "a message"));
    if (!message.content.empty()) entry["content"] = message.content;
    list.push_back(std::move(entry));
  }
  return list;
}

ordered_json conversation_json(const Conversation& conversation) {
  ordered_json list = messages_json(conversation.messages);
  if (conversation.tools.empty() && conversation.chat_template.empty()) return list;
  ordered_json all = {{"messages", std::move(list)}};
  if (!conversation.tools.empty())
    all["tools"] = formats::parse_ordered_json(conversation.tools, "tools");
  if (!conversation.chat_template.empty()) all["chat_template"] = conversation.chat_template;
  return all;
}

std::string read_tools(const ordered_json& given, const std::string& source) {
  const ordered_json& list = given.is_object() && given.contains("tools") ? given["tools"] : given;
  if (!list.is_array() || list.empty())
    refuse(source,
           R"(expected a list of tools, [{"type": "function", "function": {"name": …}}], or )"
           R"({"tools": that list}; found )" +
               shown(list));
  for (const ordered_json& tool : list)
    if (!tool.is_object())
      refuse(source, R"(tools: expected an object {"type": "function", "function": …}, found )" +
                         shown(tool));
  return dump_json(list);
}

Conversation read_conversation(const ordered_json& given, const std::string& source) {
  const bool wrapped = given.is_object() && given.contains("messages");
  const ordered_json& list = wrapped ? given["messages"] : given;
  if (!list.is_array())
    refuse(source, "expected a list of messages, " + std::string(kShape) +
                       R"(, or {"messages": that list}; found )" + shown(list));
  if (list.empty()) refuse(source, "expected at least one message, found an empty list");
  Conversation conversation;
  for (const ordered_json& entry : list)
    conversation.messages.push_back(read_message(
        entry, source + ": message " + std::to_string(conversation.messages.size() + 1)));
  if (!wrapped) return conversation;
  if (given.contains("tools") && !given["tools"].is_null())
    conversation.tools = read_tools(given["tools"], source);
  if (given.contains("chat_template") && !given["chat_template"].is_null()) {
    if (!given["chat_template"].is_string())
      refuse(source, "chat_template: expected a text, found " + shown(given["chat_template"]));
    conversation.chat_template = given["chat_template"].get<std::string>();
    conversation.template_source = source;
  }
  return conversation;
}

}  // namespace triescope
