// Chat templates: the subset of Jinja that models' chat templates are written in, rendered as
// transformers' apply_chat_template does (trim_blocks, lstrip_blocks, loop controls). Nothing is
// executed but the template; steps, depth and output are limited, so a malicious template ends.
// Immutable; any number of threads may render.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/tokenizer/tokenizer.h"

namespace triescope::tokenizer {

class ChatTemplate {
 public:
  // Parsing is put off until the first render, so that a model with a template we cannot read still
  // opens.
  ChatTemplate(std::string text, std::string source);

  // Errors: kNotSupported (names the construct and its line), kInvalidArgument (the template
  // refused the conversation: its own words).
  std::string render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                     const std::vector<std::pair<std::string, std::string>>& texts) const;

 private:
  std::string text_, source_;
};

}  // namespace triescope::tokenizer
