#include "core/text/tokenizer/charsmap.h"

#include <utf8proc.h>

#include "core/base/error.h"
#include "core/base/unicode.h"
#include "core/text/tokenizer/growth.h"

namespace triescope::tokenizer {
namespace {

// A unit of the double array.
bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t leaf_value(std::uint32_t unit) { return unit & 0x7FFFFFFFu; }
std::uint32_t label(std::uint32_t unit) { return unit & 0x800000FFu; }
std::uint32_t offset(std::uint32_t unit) { return unit >> 10 << ((unit & 1u << 9) >> 6); }

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i)
    word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << 8 * i;
  return word;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kCorruption, "precompiled_charsmap: " + what);
}

}  // namespace

Charsmap::Charsmap(std::string_view bytes) {
  if (bytes.empty()) return;
  if (bytes.size() < 4) refuse("expected at least 4 bytes, found " + std::to_string(bytes.size()));
  const std::size_t size = word_at(bytes, 0);
  if (size % 4 != 0 || size == 0 || size > bytes.size() - 4)
    refuse("expected an array of at most " + std::to_string(bytes.size() - 4) +
           " bytes in units of 4, found its size to be " + std::to_string(size));
  for (std::size_t at = 4; at < 4 + size; at += 4) units_.push_back(word_at(bytes, at));
  texts_ = bytes.substr(4 + size);
  if (invalid_utf8_offset(texts_) != std::string_view::npos)
    refuse("expected texts in UTF-8, found others");
}

Charsmap::Match Charsmap::find(std::string_view text, bool longest) const {
  Match found;
  if (units_.empty()) return found;
  std::size_t node = offset(units_[0]);
  for (std::size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (node >= units_.size() || label(units_[node]) != byte) break;
    const std::uint32_t unit = units_[node];
    node ^= offset(unit);
    if (node >= units_.size()) break;
    if (!has_leaf(unit)) continue;
    const std::size_t begin = leaf_value(units_[node]);
    if (begin > texts_.size()) break;
    const std::size_t end = std::min(texts_.find('\0', begin), texts_.size());
    found = {i + 1, std::string_view(texts_).substr(begin, end - begin)};
    // A map that begins in the middle of a character would break the text.
    if (!found.content.empty() && utf8_length(found.content, 0) == 0) return {};
    if (!longest) break;
  }
  return found;
}

std::string precompiled_form(std::string_view text, const Charsmap& map, std::size_t limit) {
  std::string out;
  // A match may be shorter than the part that it replaces: `tokenizers` drops the rest.
  const auto put = [&](std::string_view part) {
    const Charsmap::Match match = map.shortest(part);
    if (match.length == 0) return false;
    out += match.content;
    return true;
  };
  const auto put_characters = [&](std::string_view grapheme) {
    for (std::size_t at = 0, length; at < grapheme.size(); at += length) {
      length = utf8_step(grapheme, at);
      const std::string_view character = grapheme.substr(at, length);
      if (!put(character)) out += character;
    }
  };
  for (std::size_t begin = 0, end; begin < text.size(); begin = end) {
    utf8proc_int32_t state = 0;
    end = begin + utf8_step(text, begin);
    for (char32_t left = decode_utf8(text, begin); end < text.size();) {
      const char32_t right = decode_utf8(text, end);
      if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(left),
                                           static_cast<utf8proc_int32_t>(right), &state))
        break;
      end += utf8_step(text, end);
      left = right;
    }
    const std::string_view grapheme = text.substr(begin, end - begin);
    constexpr std::size_t kShort = 6;
    if (grapheme.size() >= kShort || !put(grapheme)) put_characters(grapheme);
    if (out.size() > limit) refuse_growth();
  }
  return out;
}

}  // namespace triescope::tokenizer
