// How a token's bytes are written where people read them: spaces as ·, newline ⏎, tab ⇥, bytes that
// are no UTF-8 and characters that cannot be seen as hex (⟨E2 82⟩, ⟨U+200B⟩).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/capture/capture.h"

namespace triescope::viz {

// `max_chars` > 0: longer texts lose their middle ("unbeli…able").
std::string token_text(std::string_view bytes, std::size_t max_chars = 0);

// The middle taken out of a UTF-8 text longer than `max_chars` characters.
std::string shortened(std::string_view utf8, std::size_t max_chars);

// Bytes of `text` that begin a valid UTF-8 character at `at`: its length 1..4, or 0 if there is none.
std::size_t utf8_length(std::string_view text, std::size_t at);

// A node's token; the root is "prompt", prompt token i is node -2 - i.
std::string node_text(const capture::Capture& capture, std::int32_t node,
                      std::size_t max_chars = 0);
// The last words of the prompt, at most `max_chars` characters, "…" before them.
std::string prompt_tail(const capture::Capture& capture, std::size_t max_chars);

}  // namespace triescope::viz
