// bf16 as bits: widening is exact; narrowing rounds to nearest even (NaN stays NaN).
#pragma once

#include <bit>
#include <cstdint>

namespace triescope {

inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

inline std::uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 64u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace triescope
