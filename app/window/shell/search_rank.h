// How well a row of a list fits what somebody typed to find it: palette, keys, glossary. Pure.
#pragma once

#include <optional>
#include <string>

namespace triescope::app {

// The smaller, the better; nullopt: not at all. `title`: what is shown of the row; `more`: what it is
// also found by. Case does not count, nor does a hyphen for a space. The best rows have the query at the
// beginning of their title, then at the beginning of one of its words, then anywhere in it; then those
// with each of its words at the beginning of a word of title or `more`; at last anywhere there. An empty
// query fits all alike.
inline constexpr int kTitleWordRank = 1;  // of the second kind
std::optional<int> search_rank(const std::string& query, const std::string& title,
                               const std::string& more = "");

}  // namespace triescope::app
