// Names of runs and captures in lists and in the window's title.
#pragma once

#include <string>
#include <string_view>

#include "app/window/workspace/preferences.h"
#include "core/capture/capture.h"

namespace triescope::app {

// The beginning of a text on one line: at most `most` characters, cut behind a word ("Once upon
// a…").
std::string first_words(std::string_view text, std::size_t most = 48);
// Names a recorded run by its prompt, and a file without one by its file name.
std::string recent_name(const RecentCapture& recent);
// "SmolLM2 135M Instruct · Trie beam search · Once upon a… - triescope".
std::string window_title(const capture::RunInfo& run);

}  // namespace triescope::app
