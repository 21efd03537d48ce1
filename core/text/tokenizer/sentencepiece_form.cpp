#include "core/text/tokenizer/sentencepiece_form.h"

#include "core/base/unicode.h"
#include "core/text/tokenizer/growth.h"

namespace triescope::tokenizer {
namespace {

constexpr std::string_view kEscapedSpace = "\xE2\x96\x81";

std::vector<std::pair<std::string_view, std::int32_t>> entries_of(
    const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string_view, std::int32_t>> entries;
  for (const std::string& text : texts) entries.emplace_back(text, 0);
  return entries;
}

}  // namespace

SentencePieceForm::SentencePieceForm(const SentencePieceSpaces& spaces, std::string_view charsmap)
    : spaces_(spaces), map_(charsmap), verbatim_(entries_of(spaces.verbatim)) {}

// What the text's beginning becomes: the longest user-defined symbol, the longest entry of the map,
// or one character as it is.
Charsmap::Match SentencePieceForm::prefix(std::string_view text) const {
  std::size_t length = 0;
  std::int32_t node = verbatim_.root();
  for (std::size_t end = 0; end < text.size();) {
    node = verbatim_.next(node, static_cast<unsigned char>(text[end++]));
    if (node < 0) break;
    if (verbatim_.value(node) >= 0) length = end;
  }
  if (length == 0)
    if (const Charsmap::Match match = map_.longest(text); match.length > 0) return match;
  if (length == 0) length = utf8_step(text, 0);
  return {length, text.substr(0, length)};
}

std::string SentencePieceForm::apply(std::string_view text, bool first, std::size_t limit) const {
  if (spaces_.remove_extra)
    for (Charsmap::Match match; !text.empty(); text.remove_prefix(match.length))
      if (match = prefix(text); match.content != " ") break;
  if (text.empty()) return "";
  const std::string_view space = spaces_.escape ? kEscapedSpace : " ";
  const bool dummy = spaces_.dummy_prefix && (first || spaces_.every_section);
  std::string out;
  if (dummy && !spaces_.as_suffix) out += space;
  for (bool after_space = spaces_.remove_extra; !text.empty();) {
    const Charsmap::Match match = prefix(text);
    text.remove_prefix(match.length);
    std::string_view content = match.content;
    while (after_space && content.starts_with(' ')) content.remove_prefix(1);
    for (const char byte : content) byte == ' ' ? out += space : out += byte;
    if (!content.empty()) after_space = content.ends_with(' ');
    after_space = after_space && spaces_.remove_extra;
    if (out.size() > limit) refuse_growth();
  }
  while (spaces_.remove_extra && out.ends_with(space)) out.erase(out.size() - space.size());
  if (dummy && spaces_.as_suffix) out += space;
  return out;
}

}  // namespace triescope::tokenizer
