#include "viz/canvas/shaping.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "core/base/unicode.h"

namespace triescope::viz {
namespace {

// 3 x 5 pixels for each digit, five rows of three bits, the top row first.
constexpr std::array<std::uint16_t, 16> kDigits = {
    0b111'101'101'101'111, 0b010'110'010'010'111, 0b111'001'111'100'111, 0b111'001'111'001'111,
    0b101'101'111'001'001, 0b111'100'111'001'111, 0b111'100'111'101'111, 0b111'001'001'010'010,
    0b111'101'111'101'111, 0b111'101'111'001'111, 0b111'101'111'101'101, 0b110'101'110'101'110,
    0b111'100'100'100'111, 0b110'101'101'101'110, 0b111'100'110'100'111, 0b111'100'110'100'100};
constexpr int kDigitWidth = 3, kDigitHeight = 5, kGap = 1;
constexpr int kMargin = 2;           // the frame, and one pixel inside it
constexpr float kPixelsAtOnce = 14;  // px of text size for every step by which the box grows

bool joins(char32_t c) {
  if (c >= 0x1100 && c <= 0x11FF) return true;  // Hangul Jamo
  if ((c >= 0xA960 && c <= 0xA97F) || (c >= 0xD7B0 && c <= 0xD7FF)) return true;
  if (c == 0x200C || c == 0x200D) return true;    // (non-)joiner
  if (c >= 0x1F1E6 && c <= 0x1F1FF) return true;  // flags
  if (c >= 0x1F3FB && c <= 0x1F3FF) return true;  // skin tones
  const utf8proc_property_t* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
  switch (property->category) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return true;
    default:
      break;
  }
  switch (property->bidi_class) {
    case UTF8PROC_BIDI_CLASS_R:
    case UTF8PROC_BIDI_CLASS_AL:
    case UTF8PROC_BIDI_CLASS_AN:
    case UTF8PROC_BIDI_CLASS_RLE:
    case UTF8PROC_BIDI_CLASS_RLO:
    case UTF8PROC_BIDI_CLASS_RLI:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool needs_shaping(std::string_view utf8) {
  for (std::size_t i = 0; i < utf8.size();) {
    // Nothing below U+0300 joins, and that is two bytes of UTF-8 from 0xCC on.
    if (static_cast<unsigned char>(utf8[i]) < 0xCC) {
      ++i;
      continue;
    }
    if (utf8_length(utf8, i) > 0 && joins(decode_utf8(utf8, i))) return true;
    i += utf8_step(utf8, i);
  }
  return false;
}

CodePointBox code_point_box(char32_t code, float size_px) {
  const int columns = code > 0xFFFF ? 3 : 2;
  const int pixel = std::max(1, static_cast<int>(size_px / kPixelsAtOnce));
  const int wide = columns * (kDigitWidth + kGap) - kGap + 2 * kMargin;
  const int high = 2 * kDigitHeight + kGap + 2 * kMargin;
  CodePointBox box{wide * pixel, high * pixel, {}};
  box.alpha.assign(static_cast<std::size_t>(box.width) * static_cast<std::size_t>(box.height), 0);
  const auto set = [&](int x, int y) {
    for (int row = y * pixel; row < (y + 1) * pixel; ++row)
      for (int column = x * pixel; column < (x + 1) * pixel; ++column)
        box.alpha[static_cast<std::size_t>(row * box.width + column)] = 255;
  };
  for (int x = 0; x < wide; ++x) set(x, 0), set(x, high - 1);
  for (int y = 0; y < high; ++y) set(0, y), set(wide - 1, y);
  for (int digit = 0; digit < 2 * columns; ++digit) {
    const auto value = static_cast<std::size_t>(code >> (4 * (2 * columns - 1 - digit)) & 15);
    const int left = kMargin + digit % columns * (kDigitWidth + kGap);
    const int top = kMargin + digit / columns * (kDigitHeight + kGap);
    for (int bit = 0; bit < kDigitWidth * kDigitHeight; ++bit)
      if (kDigits[value] >> (kDigitWidth * kDigitHeight - 1 - bit) & 1)
        set(left + bit % kDigitWidth, top + bit / kDigitWidth);
  }
  return box;
}

}  // namespace triescope::viz
