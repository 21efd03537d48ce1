// GPT-2's byte-level alphabet, in which every byte is a printable character. Source: openai/gpt-2,
// encoder.py, bytes_to_unicode. Immutable; any thread may call.
#pragma once

#include <string>
#include <string_view>

namespace triescope::tokenizer {

const std::string& byte_to_text(unsigned char byte);
// The bytes that a text in the alphabet encodes. A text with a character outside the alphabet is
// returned unchanged.
std::string text_to_bytes(std::string_view text);

}  // namespace triescope::tokenizer
