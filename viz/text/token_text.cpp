#include "viz/text/token_text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace triescope::viz {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

std::uint32_t decode(std::string_view text, std::size_t at, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  switch (length) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
    case 3:
      return (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    default:
      return (byte(0) & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 |
             (byte(3) & 0x3Fu);
  }
}

// Controls, other spaces, and marks that reorder or hide their surroundings.
bool is_invisible(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0xAD || c == 0x061C ||
         (c >= 0x2000 && c <= 0x200F) || (c >= 0x2028 && c <= 0x202F) ||
         (c >= 0x205F && c <= 0x206F) || c == 0x3000 || c == 0xFEFF ||
         (c >= 0xE0000 && c <= 0xE0FFF);
}

std::string code_point(std::uint32_t c) {
  std::string hex;
  for (int shift = c > 0xFFFF ? 20 : 12; shift >= 0; shift -= 4) hex += kHex[(c >> shift) & 15];
  return "⟨U+" + hex + "⟩";
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (at >= text.size()) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    if (!tail(1) || !tail(2)) return 0;
    const std::uint32_t c = decode(text, at, 3);
    return c >= 0x800 && (c < 0xD800 || c > 0xDFFF) ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    const std::uint32_t c = decode(text, at, 4);
    return c >= 0x10000 && c <= 0x10FFFF ? 4 : 0;
  }
  return 0;
}

std::string shortened(std::string_view utf8, std::size_t max_chars) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < utf8.size(); i += std::max<std::size_t>(1, utf8_length(utf8, i)))
    starts.push_back(i);
  if (max_chars == 0 || starts.size() <= max_chars) return std::string(utf8);
  if (max_chars < 3) return "…";
  const std::size_t front = (max_chars - 1 + 1) / 2, back = max_chars - 1 - front;
  std::string out(utf8.substr(0, starts[front]));
  out += "…";
  if (back > 0) out += utf8.substr(starts[starts.size() - back]);
  return out;
}

std::string token_text(std::string_view bytes, int max_chars) {
  if (bytes.empty()) return "∅";
  std::string out;
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = utf8_length(bytes, i);
    if (length == 0) {
      out += "⟨";
      bool first = true;
      for (; i < bytes.size() && utf8_length(bytes, i) == 0; ++i) {
        if (!first) out += ' ';
        first = false;
        const auto byte = static_cast<unsigned char>(bytes[i]);
        out += kHex[byte >> 4];
        out += kHex[byte & 15];
      }
      out += "⟩";
      continue;
    }
    const std::uint32_t c = decode(bytes, i, length);
    if (c == ' ') {
      out += "·";
    } else if (c == '\n') {
      out += "⏎";
    } else if (c == '\t') {
      out += "⇥";
    } else if (is_invisible(c)) {
      out += code_point(c);
    } else {
      out += bytes.substr(i, length);
    }
    i += length;
  }
  return shortened(out, static_cast<std::size_t>(std::max(0, max_chars)));
}

std::string plain_text(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = utf8_length(bytes, i);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    const std::uint32_t c = decode(bytes, i, length);
    if (c == '\n' || c == '\t' || !is_invisible(c) || c == 0xA0 || c == 0x3000) {
      out += bytes.substr(i, length);
    } else {
      out += code_point(c);
    }
    i += length;
  }
  return out;
}

}  // namespace triescope::viz
