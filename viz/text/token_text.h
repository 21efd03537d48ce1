// How a token's bytes are written for people: spaces as ·, newline ⏎, tab ⇥; bytes that are not
// UTF-8 and invisible characters as hex (⟨E2 82⟩, ⟨U+200B⟩).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace triescope::viz {

// If the text is longer than `max_chars` characters, its middle is left out ("unbeli…able").
std::string token_text(std::string_view bytes, int max_chars = 24);

// The same text with its spaces and line ends unchanged (running text), other control characters
// made visible, and broken UTF-8 as U+FFFD.
std::string plain_text(std::string_view bytes);

// A UTF-8 text without its middle if it is longer than `max_chars` characters.
std::string shortened(std::string_view utf8, std::size_t max_chars);

// Length in bytes, 1..4, of the valid UTF-8 character that begins at `at`; 0 if it is not valid.
std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace triescope::viz
