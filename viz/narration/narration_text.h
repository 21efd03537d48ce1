// A narration for people and for programs. Pure functions.
#pragma once

#include <string>

#include "viz/narration/narration.h"

namespace triescope::viz {

// "Step 12, accept"; at cursor 0 "Before the first step".
std::string heading_of(const Narration& narration);
std::string sentence_text(const Sentence& sentence);

// The heading, then one indented line per sentence.
std::string narration_as_text(const Narration& narration);
// A heading and a paragraph. Links are ts:node/7, ts:slot/3, ts:step/12/accept, ts:panel/mask.
std::string narration_as_markdown(const Narration& narration);
// {"cursor", "step", "phase", "heading", "sentences": [{"name", "text", "parts": [{"text", "value",
// "number", "target"} …]} …]}. A part has only the keys that apply: "value", "number" and "target"
// may be absent.
std::string narration_as_json(const Narration& narration);

}  // namespace triescope::viz
