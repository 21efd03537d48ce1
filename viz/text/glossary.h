// The glossary (docs/glossary.md) for the program's tooltips. Pure except for $TRIESCOPE_ASSETS;
// safe from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace triescope::viz {

// The meaning of each term, read from the rows "| term | meaning |" of a Markdown table, without
// the marks of emphasis and code and without the links behind an arrow at the meaning's end.
// Error{kCorruption}: a row without exactly two cells, or a term twice; says file and line.
std::map<std::string, std::string, std::less<>> read_glossary(std::string_view text,
                                                              const std::string& path);

// Where a term can be seen or learned.
struct GlossaryLink {
  enum class Kind : std::uint8_t { kPanel, kLesson };
  Kind kind = Kind::kPanel;
  std::string text;    // "Trie"; "lesson 3"
  std::string target;  // "trie"; "03-beam-search-is-a-trie"
  bool operator==(const GlossaryLink&) const = default;
};
// The links of each term that has some, read from the same rows: "meaning → [Trie](panel:trie),
// [lesson 3](../assets/lessons/03-beam-search-is-a-trie.md)". Error{kCorruption}: as
// read_glossary(); a link to something else.
std::map<std::string, std::vector<GlossaryLink>, std::less<>> read_glossary_links(
    std::string_view text, const std::string& path);

// All of docs/glossary.md; empty if it cannot be read.
const std::map<std::string, std::string, std::less<>>& glossary();

// The links of a term of glossary().
std::vector<GlossaryLink> glossary_links(std::string_view term);

// The term's meaning; "" = the glossary does not have it. For "p (verdict)" the part before the
// brackets is looked up. A glossary that cannot be read explains nothing.
std::string meaning_of(std::string_view term);

}  // namespace triescope::viz
