#include "core/text/tokenizer/unicode_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/base/unicode.h"

namespace triescope::tokenizer {
namespace {

int options_of(UnicodeForm form) {
  switch (form) {
    case UnicodeForm::kNfc:
      return UTF8PROC_COMPOSE;
    case UnicodeForm::kNfd:
      return UTF8PROC_DECOMPOSE;
    case UnicodeForm::kNfkc:
      return UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    case UnicodeForm::kNfkd:
      return UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
  }
  return 0;
}

// Characters that normalisation forms in `tokenizers` do not change, because its tables are those
// of Unicode 9, although today's Unicode decomposes or reorders them.
bool is_inert(char32_t c) {
  // Found by comparing tokenizers 0.23.3 with Unicode 14 character by character, and with 15 by its
  // list.
  static constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x7FD, 0x7FD},     {0x898, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},
      {0xC3C, 0xC3C},     {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},
      {0x1ABF, 0x1ACE},   {0x1DF6, 0x1DFA},   {0x32FF, 0x32FF},   {0xA7F2, 0xA7F4},
      {0xA82C, 0xA82C},   {0xAB69, 0xAB69},   {0x10781, 0x10785}, {0x10787, 0x107B0},
      {0x107B2, 0x107BA}, {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10EFD, 0x10EFF},
      {0x10F46, 0x10F50}, {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x1133B, 0x1133B},
      {0x1145E, 0x1145E}, {0x11839, 0x1183A}, {0x11938, 0x11938}, {0x1193D, 0x1193E},
      {0x11943, 0x11943}, {0x119E0, 0x119E0}, {0x11A34, 0x11A34}, {0x11A47, 0x11A47},
      {0x11A99, 0x11A99}, {0x11D42, 0x11D42}, {0x11D44, 0x11D45}, {0x11D97, 0x11D97},
      {0x11F41, 0x11F42}, {0x16FF0, 0x16FF1}, {0x1E030, 0x1E06D}, {0x1E08F, 0x1E08F},
      {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}, {0x1E4EC, 0x1E4EF},
      {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9}};
  const auto* after =
      std::upper_bound(std::begin(kRanges), std::end(kRanges), c,
                       [](char32_t code, const auto& range) { return code < range.first; });
  return after != std::begin(kRanges) && c <= (after - 1)->second;
}

std::string unicode_form_of(std::string_view text, int options) {
  utf8proc_uint8_t* mapped = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | options));
  if (length < 0)
    throw Error(ErrorCode::kInvalidArgument,
                std::string("tokenizer: normalising failed: ") + utf8proc_errmsg(length));
  std::string out(reinterpret_cast<char*>(mapped), static_cast<std::size_t>(length));
  std::free(mapped);
  return out;
}

}  // namespace

std::string unicode_form(std::string_view text, UnicodeForm form) {
  const int options = options_of(form);
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    length = utf8_length(text, at);
    if (length < 2 || !is_inert(decode_utf8(text, at))) {
      length = std::max<std::size_t>(1, length);
      continue;
    }
    if (at > begin) out += unicode_form_of(text.substr(begin, at - begin), options);
    out.append(text, at, length);
    begin = at + length;
  }
  if (begin == 0) return unicode_form_of(text, options);
  if (begin < text.size()) out += unicode_form_of(text.substr(begin), options);
  return out;
}

std::string lowercase(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += utf8_length(text, at)) {
    const char32_t code = decode_utf8(text, at);
    if (code == 0x130) {
      out += "i\xCC\x87";  // the one letter whose lower case is two characters
    } else {
      append_utf8(out,
                  static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
    }
  }
  return out;
}

std::string stripped_of_space(std::string_view text, bool left, bool right) {
  std::size_t begin = 0, end = text.size();
  while (left && begin < end && is_whitespace(decode_utf8(text, begin)))
    begin += utf8_length(text, begin);
  while (right && end > begin) {
    const std::size_t at = utf8_before(text, end);
    if (!is_whitespace(decode_utf8(text, at))) break;
    end = at;
  }
  return std::string(text.substr(begin, end - begin));
}

}  // namespace triescope::tokenizer
