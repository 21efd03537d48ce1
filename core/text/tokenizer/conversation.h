// Conversations in JSON, as transformers' apply_chat_template takes them. Pure functions.
//
//   [{"role": "user", "content": "…"}, …]
//   {"messages": that list, "tools": [{…}, …], "chat_template": "…"}
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/text/tokenizer/tokenizer.h"

namespace triescope {

// The roles of messages, in the order in which a person looks for them.
std::span<const char* const> message_roles();  // "system", "user", "assistant", "tool"

// Gives the message a role and takes out of `more` what that role may not say.
void give_role(ChatMessage& message, const std::string& role);
// Takes the calls of tools out of the message. False: it has none.
bool take_out_calls(ChatMessage& message);
// What the message says beside its text, for people: "calls add {"a":1}", "answer of add"; "" =
// nothing.
std::string more_line(const ChatMessage& message);

// A message's text stands in place of a null that its `more` has for it.
nlohmann::ordered_json messages_json(std::span<const ChatMessage> messages);
// The list of messages alone where nothing else was given.
nlohmann::ordered_json conversation_json(const Conversation& conversation);

// Reads either form. `source` is for messages of errors. Error{kInvalidArgument}: another shape, an
// unknown role or key, a content that is no text (parts for pictures and sound), no message at all,
// or those of read_tools. It says which message, what was expected and what was found.
Conversation read_conversation(const nlohmann::ordered_json& json, const std::string& source);
// Reads a list of tools, or an object that has one under "tools": JSON schemas, which the template
// gets as they are. Returns the list as text. Error{kInvalidArgument}: it is none, or empty.
std::string read_tools(const nlohmann::ordered_json& json, const std::string& source);

}  // namespace triescope
