// UTF-8 at the edges of its table (Unicode, table 3-7), and the two classes of characters.
#include <doctest/doctest.h>

#include "core/base/unicode.h"

namespace triescope {
namespace {

std::string utf8(char32_t code) {
  std::string text;
  append_utf8(text, code);
  return text;
}

// What is valid, and by how many bytes.
struct Edge {
  const char* bytes;
  std::size_t length;
  char32_t code;
};
constexpr Edge kEdges[] = {{"\x01", 1, 0x1},
                           {"\x7F", 1, 0x7F},
                           {"\xC2\x80", 2, 0x80},
                           {"\xDF\xBF", 2, 0x7FF},
                           {"\xE0\xA0\x80", 3, 0x800},
                           {"\xE0\xBF\xBF", 3, 0xFFF},
                           {"\xE8\x80\x80", 3, 0x8000},
                           {"\xED\x9F\xBF", 3, 0xD7FF},
                           {"\xEE\x80\x80", 3, 0xE000},
                           {"\xEF\xBF\xBF", 3, 0xFFFF},
                           {"\xF0\x90\x80\x80", 4, 0x10000},
                           {"\xF1\x80\x80\x80", 4, 0x40000},
                           {"\xF3\xBF\xBF\xBF", 4, 0xFFFFF},
                           {"\xF4\x80\x80\x80", 4, 0x100000},
                           {"\xF4\x8F\xBF\xBF", 4, 0x10FFFF}};

// One byte past an edge, or an edge cut short.
constexpr const char* kBroken[] = {
    "\x80",         "\xBF",         "\xC0\x80",         "\xC1\xBF",         "\xC2",
    "\xC2\x7F",     "\xC2\xC0",     "\xE0\x9F\xBF",     "\xE1\x80",         "\xE1\x80\x7F",
    "\xE1\xC0\x80", "\xED\xA0\x80", "\xED\xBF\xBF",     "\xEF\xBF",         "\xF0\x8F\xBF\xBF",
    "\xF0\x90\x80", "\xF1\x80\x80", "\xF1\x80\x80\x7F", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
    "\xFF"};

}  // namespace

TEST_CASE("UTF-8: the first and last characters of every length are read and written") {
  for (const Edge& edge : kEdges) {
    CAPTURE(static_cast<std::uint32_t>(edge.code));
    const std::string text = edge.bytes;
    CHECK(utf8_length(text, 0) == edge.length);
    CHECK(utf8_step(text, 0) == edge.length);
    CHECK(decode_utf8(text, 0) == edge.code);
    CHECK(utf8(edge.code) == text);
    CHECK(invalid_utf8_offset("a" + text + "b") == std::string_view::npos);
    CHECK(utf8_before("a" + text, 1 + edge.length) == 1);
    CHECK(utf8_before(text, edge.length) == 0);
    CHECK(utf8_lossy(text) == text);
  }
  CHECK(utf8_length("a", 1) == 0);  // past the end
  CHECK(utf8_length(std::string_view("\0", 1), 0) == 1);
}

TEST_CASE("UTF-8: what is too long, a surrogate, past the last character or cut short is invalid") {
  for (const char* broken : kBroken) {
    const std::string text = broken;
    CAPTURE(text.size());
    CHECK(utf8_length(text, 0) == 0);
    CHECK(utf8_step(text, 0) == 1);
    CHECK(decode_utf8(text, 0) == 0xFFFD);
    CHECK(invalid_utf8_offset(text) == 0);
    CHECK(invalid_utf8_offset("\xC3\xA9" + text) == 2);
  }
}

TEST_CASE("UTF-8: a walk back stops at the text's beginning, whatever stands there") {
  CHECK(utf8_before("\x80\x80", 2) == 0);
  CHECK(utf8_before("a\x80", 2) == 0);
  CHECK(utf8_before("ab", 2) == 1);
  CHECK(utf8_before("\xC3\xA9"
                    "b",
                    2) == 0);
}

TEST_CASE("UTF-8: each maximal broken part becomes one replacement character") {
  // As bytes.decode("utf-8", "replace") in Python gives them.
  const std::string r = "\xEF\xBF\xBD";
  CHECK(utf8_lossy("a\xFF"
                   "b") == "a" + r + "b");
  CHECK(utf8_lossy("\xC3") == r);
  CHECK(utf8_lossy("\xC3\xC3\xA9") == r + "\xC3\xA9");
  CHECK(utf8_lossy("\xE4\xBD"
                   "a") == r + "a");  // two of three bytes
  CHECK(utf8_lossy("\xE4\xBD") == r);
  CHECK(utf8_lossy("\xF0\x9F\x91") == r);  // three of four
  CHECK(utf8_lossy("\xF0\x9F\x91\xF0") == r + r);
  CHECK(utf8_lossy("\xE0\x9F\xBF") == r + r + r);  // the second byte cannot follow the first
  CHECK(utf8_lossy("\xED\xA0\x80") == r + r + r);
  CHECK(utf8_lossy("\xF0\x8F\xBF\xBF") == r + r + r + r);
  CHECK(utf8_lossy("\xF4\x90\x80\x80") == r + r + r + r);
  CHECK(utf8_lossy("\xC1\x81") == r + r);
  CHECK(utf8_lossy("\xF5\x80") == r + r);
  CHECK(utf8_lossy("\xE0\xA0") == r);
  CHECK(utf8_lossy("\xED\x9F") == r);
  CHECK(utf8_lossy("\xF4\x8F\xBF") == r);
  CHECK(utf8_lossy("") == "");
}

TEST_CASE("UTF-8: white space is Unicode's White_Space, no more") {
  for (char32_t code = 0; code <= 0x3100; ++code) {
    const bool expected = (code >= 0x9 && code <= 0xD) || code == 0x20 || code == 0x85 ||
                          code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
                          code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
                          code == 0x3000;
    if (is_whitespace(code) != expected) {
      CAPTURE(static_cast<std::uint32_t>(code));
      CHECK(is_whitespace(code) == expected);
    }
  }
  CHECK(is_whitespace(0x3000));
  CHECK(!is_whitespace(0x180E));  // it was one before Unicode 6.3
  CHECK(!is_whitespace(0x200B));
}

TEST_CASE("word characters: letters, marks, digits, connectors and joiners") {
  for (const char32_t code :
       {U'a',          U'Z',          U'\u00e9',     U'\u01c5',     U'\u02b0',     U'\u4f60',
        U'\u0301',     U'\u0903',     U'\u20dd',     U'5',          U'\u0665',     U'\u2160',
        U'_',          U'\u203f',     U'\u200c',     U'\u200d',     U'\u24b6',     U'\u24e9',
        U'\U0001F130', U'\U0001F149', U'\U0001F150', U'\U0001F169', U'\U0001F170', U'\U0001F189'}) {
    CAPTURE(static_cast<std::uint32_t>(code));
    CHECK(is_word(code));
  }
  for (const char32_t code :
       {U' ', U'-', U'\u2014', U'.', U'$', U'\u00b2', U'\u00bd', U'\u200b', U'\u200e', U'\u24b5',
        U'\u24ea', U'\U0001F12F', U'\U0001F14A', U'\U0001F16A', U'\U0001F18A', U'\U0001F600'}) {
    CAPTURE(static_cast<std::uint32_t>(code));
    CHECK(!is_word(code));
  }
}

}  // namespace triescope
