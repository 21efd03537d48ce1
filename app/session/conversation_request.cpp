// The conversation of a request, and the files that it comes from.
#include <utility>

#include "app/session/request.h"
#include "core/base/error.h"
#include "core/base/text_file.h"
#include "core/files/json.h"
#include "core/text/tokenizer/conversation.h"

namespace triescope::app {
namespace {

bool answers_a_tool(const RunRequest& request) {
  return request.chat && request.prompt.empty() && !request.turns.empty() &&
         request.turns.back().role == "tool";
}

}  // namespace

Conversation conversation_of(const RunRequest& request) {
  Conversation conversation;
  std::vector<ChatMessage>& messages = conversation.messages;
  if (!request.system.empty()) messages.push_back({"system", request.system});
  messages.insert(messages.end(), request.turns.begin(), request.turns.end());
  if (!answers_a_tool(request)) messages.push_back({"user", request.prompt});
  conversation.tools = request.tools;
  conversation.chat_template = request.chat_template;
  conversation.template_source = request.chat_template_file;
  return conversation;
}

bool has_prompt(const RunRequest& request) {
  return !request.prompt.empty() || !request.prompt_ids.empty() || answers_a_tool(request);
}

void take_conversation(RunRequest& request, Conversation conversation, const std::string& source) {
  std::vector<ChatMessage>& messages = conversation.messages;
  const std::string last = messages.empty() ? "none" : messages.back().role;
  if (last != "user" && last != "tool")
    throw Error(ErrorCode::kInvalidArgument,
                source +
                    ": expected the last message to be the user's or a tool's, which the model "
                    "answers; found role " +
                    last);
  request.prompt.clear();
  if (last == "user") {
    request.prompt = std::move(messages.back().content);
    messages.pop_back();
  }
  request.system.clear();
  // An empty system message stays a turn, because to a template it differs from none.
  if (!messages.empty() && messages.front().role == "system" && !messages.front().content.empty()) {
    request.system = std::move(messages.front().content);
    messages.erase(messages.begin());
  }
  request.turns = std::move(messages);
  request.prompt_ids.clear();
  request.prompt_is_ids = false;
  request.chat = true;
  if (!conversation.tools.empty()) request.tools = std::move(conversation.tools);
  if (conversation.chat_template.empty()) return;
  request.chat_template = std::move(conversation.chat_template);
  request.chat_template_file = std::move(conversation.template_source);
}

Conversation read_messages_file(const std::string& path) {
  return read_conversation(formats::parse_ordered_json(
                               read_text_file(path, "a JSON file with a list of messages"), path),
                           path);
}

std::string read_tools_file(const std::string& path) {
  return read_tools(
      formats::parse_ordered_json(read_text_file(path, "a JSON file with a list of tools"), path),
      path);
}

bool holds_tools_alone(const std::string& path) {
  const auto all = formats::parse_ordered_json(read_text_file(path, "a JSON file"), path);
  return all.is_object() && all.contains("tools") && !all.contains("messages");
}

void take_chat_template(RunRequest& request, const std::string& path) {
  std::string text = read_text_file(path, "a file with a chat template");
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw Error(ErrorCode::kInvalidArgument,
                path + ": expected a chat template, found an empty file");
  request.chat_template = std::move(text);
  request.chat_template_file = path;
}

}  // namespace triescope::app
