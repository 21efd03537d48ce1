// The prompts of a study: texts, those of a file in Spec-Bench's format, or whole conversations.
#pragma once

#include <optional>
#include <string>

#include "app/bench/prompts.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

struct StudyPrompt : BenchPrompt {
  // With the model's chat template, whatever [study] says. `text` is then the last message of the
  // user, which the model answers, and may be empty if the last message is a tool's.
  std::optional<Conversation> conversation = {};
  std::string source = {};  // the conversation's file, for messages of errors
};

}  // namespace triescope::app
