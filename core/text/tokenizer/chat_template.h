// Chat templates: the subset of Jinja in which models' chat templates are written, rendered like
// transformers' apply_chat_template (trim_blocks, lstrip_blocks, loop controls). Nothing but the
// template is executed; steps, depth and output are limited, so a malicious template ends.
// Immutable; any number of threads may render.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/text/tokenizer/tokenizer.h"

namespace triescope::tokenizer {

class ChatTemplate {
 public:
  // Parsing waits for the first render, so that a model with a template that we cannot read still
  // opens.
  ChatTemplate(std::string text, std::string source);

  // Errors: kNotSupported (names the construct and its line), kInvalidArgument (the template
  // refused the conversation; the message is the template's).
  std::string render(const Conversation& conversation, bool add_generation_prompt,
                     const std::vector<std::pair<std::string, std::string>>& texts) const;

 private:
  std::string text_, source_;
};

}  // namespace triescope::tokenizer
