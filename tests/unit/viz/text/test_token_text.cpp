#include <doctest/doctest.h>

#include "viz/text/token_text.h"

namespace test_token_text {

using namespace triescope::viz;

TEST_CASE("token text: spaces, line ends and tabs of a token are visible") {
  CHECK(token_text(" the") == "·the");
  CHECK(token_text("\n\n") == "⏎⏎");
  CHECK(token_text("\ta") == "⇥a");
  CHECK(token_text("") == "∅");
}

TEST_CASE("token text: broken UTF-8 is written as hex, whole characters are left alone") {
  CHECK(token_text("\xE2\x82") == "⟨E2 82⟩");
  CHECK(token_text("a\xFF"
                   "b") == "a⟨FF⟩b");
  CHECK(token_text("é東") == "é東");
  CHECK(token_text("\xC0\xAF") == "⟨C0 AF⟩");         // overlong
  CHECK(token_text("\xED\xA0\x80") == "⟨ED A0 80⟩");  // half a surrogate pair
}

TEST_CASE("token text: characters that hide or reorder text are written by their code") {
  CHECK(token_text("a\xE2\x80\x8B"
                   "b") == "a⟨U+200B⟩b");  // zero width space
  CHECK(token_text("\xE2\x80\xAE"
                   "x") == "⟨U+202E⟩x");  // right-to-left override
  CHECK(token_text("\r") == "⟨U+000D⟩");
  CHECK(token_text("\x7F") == "⟨U+007F⟩");
  CHECK(token_text("\xF3\xA0\x80\x81") == "⟨U+0E0001⟩");  // a tag: six digits
}

TEST_CASE("token text: long tokens lose their middle, at character boundaries") {
  CHECK(token_text("internationalization", 10) == "inter…tion");
  CHECK(token_text("ééééééééé", 5) == "éé…éé");
  CHECK(shortened("abc", 3) == "abc");
}

TEST_CASE("token text: running text keeps spaces and line ends") {
  CHECK(plain_text(" a\nb\t") == " a\nb\t");
  CHECK(plain_text("a\xC2\xA0"
                   "b\xE3\x80\x80") ==
        "a\xC2\xA0"
        "b\xE3\x80\x80");  // no-break and ideographic space
  CHECK(plain_text("a\xE2\x80\x8B\r") == "a⟨U+200B⟩⟨U+000D⟩");
  CHECK(plain_text("\xE2\x82") == "\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace test_token_text
