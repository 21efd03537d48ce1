// Conversations as JSON: [{"role": "user", "content": "…"}, …], as transformers' apply_chat_template
// takes them. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/tokenizer/tokenizer.h"

namespace triescope {

// What a message may be from, in the order in which a person looks for them.
std::span<const char* const> message_roles();  // "system", "user", "assistant"

nlohmann::json conversation_json(std::span<const ChatMessage> messages);
// A list of messages, or an object with one under "messages". `source`: for messages of errors.
// Error{kInvalidArgument}: another shape, a role or a key that there is not, a content that is no text
// (the parts of pictures and sound), no message at all; says which message, what was expected and found.
std::vector<ChatMessage> read_conversation(const nlohmann::json& json, const std::string& source);

}  // namespace triescope
