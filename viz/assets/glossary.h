// The glossary (docs/glossary.md) as the program's tooltips use it. Pure but for $TRIESCOPE_ASSETS;
// safe from any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace triescope::viz {

// Term to meaning, read from the rows "| term | meaning |" of a Markdown table; the marks of
// emphasis and code are left out. Error{kCorruption}: a row with other than two cells, a term twice;
// says file and line.
std::map<std::string, std::string, std::less<>> read_glossary(std::string_view text,
                                                              const std::string& path);

// All of docs/glossary.md; empty where it cannot be read.
const std::map<std::string, std::string, std::less<>>& glossary();

// What the term means; "" = the glossary does not have it. Of "p (verdict)" what stands before the
// brackets. A glossary that cannot be read explains nothing.
std::string meaning_of(std::string_view term);

}  // namespace triescope::viz
