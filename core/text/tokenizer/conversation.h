// Conversations in JSON: [{"role": "user", "content": "…"}, …], as transformers'
// apply_chat_template takes them. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/text/tokenizer/tokenizer.h"

namespace triescope {

// The roles of messages, in the order in which a person looks for them.
std::span<const char* const> message_roles();  // "system", "user", "assistant"

nlohmann::json conversation_json(std::span<const ChatMessage> messages);
// Reads a list of messages, or an object that has one under "messages". `source` is for messages of
// errors. Error{kInvalidArgument}: another shape, an unknown role or key, a content that is no text
// (parts for pictures and sound), or no message at all. It says which message, what was expected
// and what was found.
std::vector<ChatMessage> read_conversation(const nlohmann::json& json, const std::string& source);

}  // namespace triescope
