// The prompts of a study: texts, those of a file in Spec-Bench's format, or whole conversations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/bench/prompts.h"
#include "app/study/toml_reader.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

struct StudyPrompt : BenchPrompt {
  // With the model's chat template, whatever [study] says. `text` is then the last message of the
  // user, which the model answers, and may be empty if the last message is a tool's.
  std::optional<Conversation> conversation = {};
  std::string source = {};  // the conversation's file, for messages of errors
};

// Those of one [[prompts]] table of the study `file`. Files are looked for in its folder. A number
// that the table does not give is -1. Error{kCorruption}: "FILE:3:9: …".
std::vector<StudyPrompt> read_study_prompts(const std::string& file, const toml::table& table);

}  // namespace triescope::app
