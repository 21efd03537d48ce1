#include "core/text/jinja/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "core/base/error.h"
#include "core/base/unicode.h"

namespace triescope::jinja {
namespace {

enum class Case { kUpper, kLower, kTitle };

void append_cased(std::string& out, char32_t code, Case how) {
  const auto c = static_cast<utf8proc_int32_t>(code);
  if (code == U'ß' && how != Case::kLower) {  // the one letter of common text that grows
    out += how == Case::kUpper ? "SS" : "Ss";
    return;
  }
  append_utf8(out, static_cast<char32_t>(how == Case::kUpper   ? utf8proc_toupper(c)
                                         : how == Case::kLower ? utf8proc_tolower(c)
                                                               : utf8proc_totitle(c)));
}

bool cased(char32_t code) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT;
}

template <class Body>
void each(const std::string& text, Body body) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_step(text, at);
    body(decode_utf8(text, at), at, length);
    at += length;
  }
}

std::string mapped(const std::string& text, Case how) {
  std::string out;
  each(text, [&](char32_t code, std::size_t, std::size_t) { append_cased(out, code, how); });
  return out;
}

}  // namespace

bool is_python_space(char32_t code) {
  return is_whitespace(code) || (code >= 0x1c && code <= 0x1f);
}

std::size_t after_space(const std::string& text, std::size_t at) {
  while (at < text.size() && is_python_space(decode_utf8(text, at))) at += utf8_step(text, at);
  return at;
}

std::vector<std::string_view> characters(const std::string& text) {
  std::vector<std::string_view> out;
  each(text, [&](char32_t, std::size_t at, std::size_t length) {
    out.push_back(std::string_view(text).substr(at, length));
  });
  return out;
}

std::int64_t character_count(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](unsigned char c) { return (c & 0xC0) != 0x80; });
}

std::string stripped(const std::string& text, const std::optional<std::string>& set, bool left,
                     bool right) {
  std::u32string chosen;
  if (set) each(*set, [&](char32_t code, std::size_t, std::size_t) { chosen += code; });
  const auto goes = [&](std::size_t at) {
    const char32_t code = decode_utf8(text, at);
    return set ? chosen.find(code) != std::u32string::npos : is_python_space(code);
  };
  std::size_t begin = 0, end = text.size();
  while (left && begin < end && goes(begin)) begin += utf8_step(text, begin);
  while (right && end > begin) {
    const std::size_t last = std::max(begin, utf8_before(text, end));
    if (!goes(last)) break;
    end = last;
  }
  return text.substr(begin, end - begin);
}

std::string upper(const std::string& text) { return mapped(text, Case::kUpper); }
std::string lower(const std::string& text) { return mapped(text, Case::kLower); }

std::string title(const std::string& text) {
  std::string out;
  bool inside = false;
  each(text, [&](char32_t code, std::size_t, std::size_t) {
    append_cased(out, code, inside ? Case::kLower : Case::kTitle);
    inside = cased(code);
  });
  return out;
}

std::string title_filter(const std::string& text) {
  std::string out;
  bool inside = false;
  each(text, [&](char32_t code, std::size_t, std::size_t) {
    const bool between = is_python_space(code) ||
                         std::u32string_view(U"-({[<").find(code) != std::u32string_view::npos;
    append_cased(out, code, inside || between ? Case::kLower : Case::kUpper);
    inside = !between;
  });
  return out;
}

std::string capitalized(const std::string& text) {
  std::string out;
  each(text, [&](char32_t code, std::size_t at, std::size_t) {
    append_cased(out, code, at == 0 ? Case::kTitle : Case::kLower);
  });
  return out;
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to,
                     std::int64_t count, std::size_t limit) {
  std::string out;
  const auto add = [&](std::string_view part) {
    if (out.size() + part.size() > limit)
      throw Error(ErrorCode::kNotSupported,
                  "chat template: replace makes more than " + std::to_string(limit) + " bytes");
    out += part;
  };
  std::size_t at = 0;
  if (from.empty()) {  // before every character, and at the end
    for (const std::string_view c : characters(text)) {
      if (count-- == 0) break;
      add(to);
      add(c);
      at += c.size();
    }
    if (count != 0 && at == text.size()) add(to);
    add(std::string_view(text).substr(at));
    return out;
  }
  for (std::size_t found; count != 0 && (found = text.find(from, at)) != std::string::npos;
       --count) {
    add(std::string_view(text).substr(at, found - at));
    add(to);
    at = found + from.size();
  }
  add(std::string_view(text).substr(at));
  return out;
}

std::vector<std::string> split(const std::string& text, const std::optional<std::string>& separator,
                               std::int64_t most) {
  std::vector<std::string> parts;
  if (separator) {
    std::size_t at = 0;
    for (std::size_t found; most != 0 && (found = text.find(*separator, at)) != std::string::npos;
         --most) {
      parts.push_back(text.substr(at, found - at));
      at = found + separator->size();
    }
    parts.push_back(text.substr(at));
    return parts;
  }
  for (std::size_t at = after_space(text, 0); at < text.size(); --most) {
    if (most == 0) {
      parts.push_back(text.substr(at));
      break;
    }
    std::size_t end = at;
    while (end < text.size() && !is_python_space(decode_utf8(text, end)))
      end += utf8_step(text, end);
    parts.push_back(text.substr(at, end - at));
    at = after_space(text, end);
  }
  return parts;
}

std::vector<std::string> split_from_right(const std::string& text, const std::string& separator,
                                          std::int64_t most) {
  std::vector<std::string> parts;
  std::size_t end = text.size();
  while (most != 0 && end >= separator.size()) {
    const std::size_t found = text.rfind(separator, end - separator.size());
    if (found == std::string::npos) break;
    parts.push_back(text.substr(found + separator.size(), end - found - separator.size()));
    end = found;
    --most;
  }
  parts.push_back(text.substr(0, end));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  bool open = false;
  each(text, [&](char32_t code, std::size_t at, std::size_t length) {
    if (code == '\n' && at > 0 && text[at - 1] == '\r') {  // the end of CR LF
      begin = at + 1;
      return;
    }
    open = true;
    if ((code >= 0x0a && code <= 0x0d) || (code >= 0x1c && code <= 0x1e) || code == 0x85 ||
        code == 0x2028 || code == 0x2029) {
      lines.push_back(text.substr(begin, at - begin));
      begin = at + length;
      open = false;
    }
  });
  if (open) lines.push_back(text.substr(begin));
  return lines;
}

std::string python_repr(const std::string& text) {
  const bool double_quotes =
      text.find('\'') != std::string::npos && text.find('"') == std::string::npos;
  const char quote = double_quotes ? '"' : '\'';
  std::string out(1, quote);
  each(text, [&](char32_t code, std::size_t at, std::size_t length) {
    char escape[16] = "";
    const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
    if (code == static_cast<char32_t>(quote) || code == '\\') {
      (out += '\\') += static_cast<char>(code);
    } else if (code == '\n' || code == '\t' || code == '\r') {
      out += code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
    } else if (code != ' ' &&
               (category == UTF8PROC_CATEGORY_CN || category >= UTF8PROC_CATEGORY_ZS)) {
      // Unassigned characters, separators, controls, formats and private use are not printable to
      // Python.
      std::snprintf(escape, sizeof escape,
                    code < 0x100     ? "\\x%02x"
                    : code < 0x10000 ? "\\u%04x"
                                     : "\\U%08x",
                    static_cast<unsigned>(code));
      out += escape;
    } else {
      out.append(text, at, length);
    }
  });
  return out + quote;
}

}  // namespace triescope::jinja
