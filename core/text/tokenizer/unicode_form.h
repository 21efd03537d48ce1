// Normalisers' operations on characters: Unicode's normalisation forms, lower case, stripping white
// space, all as in `tokenizers`. Texts are valid UTF-8. No state; any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace triescope::tokenizer {

enum class UnicodeForm : std::uint8_t { kNfc, kNfd, kNfkc, kNfkd };

// Error{kInvalidArgument}: the text cannot be normalised.
std::string unicode_form(std::string_view text, UnicodeForm form);
std::string lowercase(std::string_view text);
std::string stripped_of_space(std::string_view text, bool left, bool right);

}  // namespace triescope::tokenizer
