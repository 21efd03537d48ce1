// trimmed: a text without the spaces around it. The caller says which characters are spaces: a line
// that was read has its '\r', a token's text keeps its '\n'. Returns a view of the same bytes.
#pragma once

#include <string_view>

namespace triescope {

inline std::string_view trimmed(std::string_view text, std::string_view spaces = " \t\r") {
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

}  // namespace triescope
