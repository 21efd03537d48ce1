// The documents of a text: a line <|endoftext|> stands between two of them, as in corpora.
#pragma once

#include <string_view>

namespace triescope {

inline constexpr std::string_view kDocumentSeparator = "<|endoftext|>";

// Takes the first document off `text`: what stands before the separator, which is dropped with the newline
// behind it. REQUIRES: text is not empty.
inline std::string_view take_document(std::string_view& text) {
  const std::size_t end = text.find(kDocumentSeparator);
  const std::string_view document = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + kDocumentSeparator.size());
  if (end != std::string_view::npos && text.starts_with('\n')) text.remove_prefix(1);
  return document;
}

}  // namespace triescope
