// The narration of a step, as the data from which a handout's page shows it:
//
//   [["draft", [sentence, …]], …]       by phase; a sentence is a list of its parts
//   "words" or ["words", "n7"]          a part; the second is a link: n = node, s = place of a step in the
//                                       page, p = panel
//
// A slot's link leads to the node whose KV lies in it. A link that would lead out of the page
// becomes words.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "core/capture/capture.h"
#include "viz/narration/sentences.h"

namespace triescope::viz {

// `steps` and `panels` are those of the page; `nodes` receives the linked nodes.
std::string step_words_json(const capture::Capture& capture, std::int32_t step,
                            std::span<const std::int32_t> steps,
                            std::span<const std::string> panels, const Sentences& sentences,
                            std::set<std::int32_t>& nodes);

}  // namespace triescope::viz
