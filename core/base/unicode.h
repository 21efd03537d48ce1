// Small UTF-8 and byte-level helpers of the tokenizers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace triescope::tokenizer {

// Length in bytes of the valid UTF-8 character at `at`; 0 = invalid there.
std::size_t utf8_length(std::string_view text, std::size_t at);
// Offset of the first invalid byte, npos = all valid.
std::size_t invalid_utf8_offset(std::string_view text);
// Invalid parts become U+FFFD, a maximal part each (as Rust's from_utf8_lossy).
std::string utf8_lossy(std::string_view bytes);
// How many bytes at the end may be the beginning of a character that is not whole yet.
std::size_t incomplete_tail(std::string_view bytes);
char32_t decode_utf8(std::string_view text, std::size_t at);
void append_utf8(std::string& out, char32_t code);
bool is_whitespace(char32_t code);  // Unicode White_Space
bool is_word(char32_t code);        // alphabetic, digit, mark, connector, join control: UTS 18's \w

// Characters that normalisation forms leave alone in `tokenizers`, whose tables are those of
// Unicode 9, though today's Unicode decomposes or reorders them.
bool is_inert(char32_t code);

// GPT-2's byte-level alphabet: every byte as a printable character.
const std::string& byte_to_text(unsigned char byte);
// The bytes a text in that alphabet stands for; text with a character outside it is returned as it
// is.
std::string text_to_bytes(std::string_view text);

}  // namespace triescope::tokenizer
