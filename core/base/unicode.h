// UTF-8, and the two classes of characters that everything above needs. No state; any thread may
// call.
#pragma once

#include <string>
#include <string_view>

namespace triescope {

// Length in bytes of the valid UTF-8 character at `at`; 0 = invalid there.
std::size_t utf8_length(std::string_view text, std::size_t at);
// The same, or 1 for an invalid byte: the step of a walk over any text.
std::size_t utf8_step(std::string_view text, std::size_t at);
// Where the character that ends at `end` begins. REQUIRES: 0 < end <= text.size().
std::size_t utf8_before(std::string_view text, std::size_t end);
// Offset of the first invalid byte; npos = all bytes are valid.
std::size_t invalid_utf8_offset(std::string_view text);
// Replaces invalid parts by U+FFFD, one for each maximal part (like Rust's from_utf8_lossy).
std::string utf8_lossy(std::string_view bytes);

char32_t decode_utf8(std::string_view text, std::size_t at);  // U+FFFD where invalid
void append_utf8(std::string& out, char32_t code);

bool is_whitespace(char32_t code);  // Unicode White_Space
bool is_word(char32_t code);        // alphabetic, digit, mark, connector, join control: UTS 18's \w

}  // namespace triescope
