// Past answers, for drafters that learn from what was written before this run: text files and captures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace triescope {

// `path` is a UTF-8 text file whose documents are answers (core/lookup/documents.h), a capture (.tscap), whose
// best text is one, or a folder of both (.txt and .tscap files). `encode` turns a text into tokens.
// Returns the answers oldest first, by the files' times of writing: the newest ones that have at most
// `most_tokens` together. Errors: kNotFound, kCorruption (a capture that cannot be read); the message names
// the file.
std::vector<std::vector<std::int32_t>> read_past_answers(
    const std::string& path, std::size_t most_tokens,
    const std::function<std::vector<std::int32_t>(std::string_view)>& encode);

}  // namespace triescope
