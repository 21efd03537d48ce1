// Converts bits of 16- and 8-bit floating point to float, exactly, and float to the nearest fp16.
// core/base/bf16.h converts bf16 both ways.
#pragma once

#include <bit>
#include <cstdint>

#include "core/base/bf16.h"

namespace triescope::formats {

inline float f16_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude < 0x0400u) {  // subnormal: mantissa * 2^-24 is exact
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
  const std::uint32_t exponent_shift =
      magnitude >= 0x7c00u ? (255u - 31u) << 23 : (127u - 15u) << 23;
  return std::bit_cast<float>(sign | ((magnitude << 13) + exponent_shift));
}

// To the nearest, of two equally near ones to the even; NaN stays NaN.
inline std::uint16_t float_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 0x477ff000u) {  // 65520 and more
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // below 2^-14: a sum with 0.5 is a multiple of 2^-24
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
           std::bit_cast<std::uint32_t>(0.5f);
  } else {
    const std::uint32_t even = (magnitude >> 13) & 1u;
    half = (magnitude + 0xfffu + even - ((127u - 15u) << 23)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

// 1 sign, 4 exponent (bias 7), 3 mantissa; no infinity, S.1111.111 is NaN (the "FN" of
// torch.float8_e4m3fn).
inline float f8_e4m3_to_float(std::uint8_t bits) {
  const std::uint32_t sign = (bits & 0x80u) << 24;
  const std::uint32_t magnitude = bits & 0x7fu;
  float value;
  if (magnitude == 0x7fu) {
    value = std::bit_cast<float>(0x7fc00000u);
  } else if (magnitude < 8u) {
    value = static_cast<float>(magnitude) * 0x1p-9f;
  } else {
    value = std::bit_cast<float>((magnitude << 20) + ((127u - 7u) << 23));
  }
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

// Its byte is the upper byte of an fp16.
inline float f8_e5m2_to_float(std::uint8_t bits) {
  return f16_to_float(static_cast<std::uint16_t>(bits << 8));
}

}  // namespace triescope::formats
