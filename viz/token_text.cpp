#include "viz/token_text.h"

#include <cstdio>
#include <vector>

namespace triescope::viz {
namespace {

// Length of the valid UTF-8 character at `at`; 0 = broken.
std::size_t character(std::string_view s, std::size_t at) {
  const auto lead = static_cast<unsigned char>(s[at]);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || at + length > s.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(s[at + i]) & 0xC0) != 0x80) return 0;
  return length;
}

std::string hex(std::string_view bytes) {
  std::string out = "⟨";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char text[4];
    std::snprintf(text, sizeof text, i ? " %02X" : "%02X", static_cast<unsigned char>(bytes[i]));
    out += text;
  }
  return out + "⟩";
}

}  // namespace

std::string token_text(std::string_view bytes, int max_chars) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character(bytes, at);
    if (length == 0) {
      std::size_t end = at + 1;
      while (end < bytes.size() && character(bytes, end) == 0) ++end;
      parts.push_back(hex(bytes.substr(at, end - at)));
      at = end;
      continue;
    }
    const char c = bytes[at];
    if (length > 1)
      parts.emplace_back(bytes.substr(at, length));
    else if (c == ' ')
      parts.emplace_back("·");
    else if (c == '\n')
      parts.emplace_back("⏎");
    else if (c == '\t')
      parts.emplace_back("⇥");
    else if (c == '\r')
      parts.emplace_back("␍");
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      parts.push_back(hex(bytes.substr(at, 1)));
    else
      parts.emplace_back(1, c);
    at += length;
  }
  const auto limit = static_cast<std::size_t>(max_chars);
  std::string out;
  if (parts.size() <= limit) {
    for (const std::string& part : parts) out += part;
    return out.empty() ? "∅" : out;
  }
  const std::size_t head = limit / 2, tail = limit - head - 1;
  for (std::size_t i = 0; i < head; ++i) out += parts[i];
  out += "…";
  for (std::size_t i = parts.size() - tail; i < parts.size(); ++i) out += parts[i];
  return out;
}

std::string plain_text(std::string_view bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character(bytes, at);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++at;
      continue;
    }
    out.append(bytes, at, length);
    at += length;
  }
  return out;
}

}  // namespace triescope::viz
