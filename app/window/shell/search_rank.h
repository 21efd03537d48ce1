// Ranks rows of a list by how well they fit a typed query: palette, keys, glossary. Pure.
#pragma once

#include <optional>
#include <string>

namespace triescope::app {

// A row's rank; smaller is better, nullopt: it does not fit. `title` is shown; `more` is also
// searched. Case is ignored, and a hyphen equals a space. The best rows have the query at the
// beginning of the title, then at the beginning of one of its words, then anywhere in it. Then come
// rows where each word of the query begins a word of title or `more`, and last those that have the
// words anywhere there. An empty query fits all rows alike.
inline constexpr int kTitleWordRank = 1;  // the query begins a word of the title
std::optional<int> search_rank(const std::string& query, const std::string& title,
                               const std::string& more = "");

}  // namespace triescope::app
