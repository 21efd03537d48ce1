// Tokens as people can read them: spaces visible, line ends marked, broken UTF-8 as hex.
#pragma once

#include <string>
#include <string_view>

namespace triescope::viz {

// " the" -> "·the", "\n" -> "⏎", "\t" -> "⇥", a lone 0xE2 -> "⟨E2⟩". Longer than `max_chars`
// characters: cut in the middle.
std::string token_text(std::string_view bytes, int max_chars = 24);
// The same text with its spaces left alone (running text), control characters made visible, broken
// UTF-8 as U+FFFD.
std::string plain_text(std::string_view bytes);

}  // namespace triescope::viz
