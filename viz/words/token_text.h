// How a token's bytes are written where people read them: spaces as ·, newline ⏎, tab ⇥, bytes that
// are not UTF-8 and characters that cannot be seen as hex (⟨E2 82⟩, ⟨U+200B⟩).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace triescope::viz {

// Longer than `max_chars` characters: the middle is left out ("unbeli…able").
std::string token_text(std::string_view bytes, int max_chars = 24);

// The same text with its spaces and line ends left alone (running text), other control characters
// made visible, broken UTF-8 as U+FFFD.
std::string plain_text(std::string_view bytes);

// The middle taken out of a UTF-8 text longer than `max_chars` characters.
std::string shortened(std::string_view utf8, std::size_t max_chars);

// Bytes of the valid UTF-8 character that begins at `at`: 1..4, or 0 if it is not valid.
std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace triescope::viz
