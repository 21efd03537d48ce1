// How long a text may become in a normaliser, a pre-tokeniser or a decoder: steps that each double
// it would fill any memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace triescope::tokenizer {

// For a text of `bytes`.
constexpr std::size_t growth_limit(std::size_t bytes) { return 64 * bytes + (64 << 10); }
[[noreturn]] void refuse_growth();  // Error{kNotSupported}

// Replaces every `pattern` in `text` by `content`. Error{kNotSupported}: longer than `limit`.
std::string replace_all(std::string_view text, const std::string& pattern,
                        const std::string& content, std::size_t limit);

}  // namespace triescope::tokenizer
