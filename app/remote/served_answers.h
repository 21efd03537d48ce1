// What a served session answers to questions (AskKind::kQuestion).
#pragma once

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
                            *kAskDecode = "decode", *kAskPieces = "pieces", *kAskChat = "chat";

// Error{kNotSupported}: there is no such question; {kInvalidArgument}: no model is loaded whose
// tokenizer could be asked; else those of what was asked.
nlohmann::json answer_of(const RunHost& host, const AllowedPaths& paths, const Ask& ask);

TokenizerFacts facts_of(const Tokenizer& tokenizer);

}  // namespace triescope::app
