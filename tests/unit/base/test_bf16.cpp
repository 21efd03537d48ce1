// bf16 as bits.
#include <doctest/doctest.h>

#include <cmath>

#include "core/base/bf16.h"

namespace triescope {
namespace {

TEST_CASE("bf16: every pattern of bits comes back from float, and NaN stays NaN") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float wide = bf16_to_float(static_cast<std::uint16_t>(bits));
    if (std::isnan(wide)) {
      REQUIRE(std::isnan(bf16_to_float(float_to_bf16(wide))));
    } else {
      REQUIRE(float_to_bf16(wide) == bits);
    }
  }
  // A NaN whose upper half alone would read as infinity.
  CHECK(std::isnan(bf16_to_float(float_to_bf16(std::bit_cast<float>(0x7f800001u)))));
}

TEST_CASE("bf16: narrowing rounds to the nearest, a tie to even") {
  const auto rounded = [](std::uint32_t bits) { return float_to_bf16(std::bit_cast<float>(bits)); };
  CHECK(rounded(0x3f800000u) == 0x3f80);
  CHECK(rounded(0x3f807fffu) == 0x3f80);
  CHECK(rounded(0x3f808000u) == 0x3f80);  // a tie: down, to even
  CHECK(rounded(0x3f808001u) == 0x3f81);
  CHECK(rounded(0x3f818000u) == 0x3f82);  // a tie: up, to even
  CHECK(rounded(0xbf818000u) == 0xbf82);
  CHECK(rounded(0x7f7fffffu) == 0x7f80);  // past the largest: infinity
  CHECK(bf16_to_float(0x4049) == 3.140625f);
}

}  // namespace
}  // namespace triescope
