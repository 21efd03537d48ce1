// A served session's answers to a client: commands go to its host, questions are answered.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/remote/allowed_paths.h"
#include "app/remote/messages.h"
#include "app/session/run_host.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

// Names of questions; the tokenizer's are about the loaded model's.
inline constexpr const char *kAskDevices = "devices", *kAskModels = "models", *kAskHeads = "heads",
                            *kAskDrafts = "drafts", *kAskModelPath = "model_path",
                            *kAskDefaultDraft = "default_draft", *kAskEncode = "encode",
                            *kAskDecode = "decode", *kAskPieces = "pieces", *kAskChat = "chat",
                            *kAskMemory = "memory", *kAskFits = "fits", *kAskCount = "count";

// Error{kNotSupported}: there is no such question; {kInvalidArgument}: no model is loaded whose
// tokenizer could be asked; else those of what was asked.
nlohmann::json answer_of(const RunHost& host, const AllowedPaths& paths, const Ask& ask);

// Hands a command over to the host, which queues it: nothing here waits. `new_path` names the capture
// of a run that begins. Errors: those of
// AllowedPaths; kInvalidArgument: a breakpoint that could never be hit.
void obey(const Ask& ask, RunHost& host, const AllowedPaths& paths,
          const std::function<std::string()>& new_path);

TokenizerFacts facts_of(const Tokenizer& tokenizer);

}  // namespace triescope::app
