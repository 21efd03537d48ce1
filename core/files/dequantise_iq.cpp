// The types of 1 to 3 bits whose codes name entries of a codebook. A group is eight values: one
// entry in IQ1 and IQ2, two in IQ3. Every value has a sign bit; where a group stores seven of them,
// the eighth makes the number of negative ones even.
#include <bit>

#include "core/files/block_decoders.h"
#include "core/files/codebooks.h"

namespace triescope::formats {
namespace {

constexpr int kGroups = 32;  // in a block of 256 values

unsigned short_at(const Byte* at) { return static_cast<unsigned>(at[0] | at[1] << 8); }

std::uint32_t word_at(const Byte* at) {
  return short_at(at) | std::uint32_t{short_at(at + 2)} << 16;
}

// Entry k of 4-bit scales, two in a byte, the first in the low bits.
int scale_at(const Byte* scales, int k) { return (scales[k / 2] >> (k % 2 * 4)) & 15; }

unsigned even_signs(std::uint32_t seven_bits) {
  const unsigned signs = seven_bits & 127;
  return signs | (static_cast<unsigned>(std::popcount(signs)) & 1) << 7;
}

float signed_by(float value, unsigned signs, int i) {
  return (signs >> i & 1) != 0 ? -value : value;
}

void group_of_2(float scale, unsigned entry, unsigned signs, float* out) {
  static constexpr float kSizes[] = {8, 25, 43};
  for (int i = 0; i < 8; ++i) out[i] = signed_by(scale * kSizes[entry >> (2 * i) & 3], signs, i);
}

void group_of_3(float scale, const float (&sizes)[8], unsigned first, unsigned second,
                unsigned signs, float* out) {
  for (int i = 0; i < 8; ++i) {
    const unsigned entry = i < 4 ? first : second;
    out[i] = signed_by(scale * sizes[entry >> (i % 4 * 4) & 7], signs, i);
  }
}

void group_of_1(float scale, unsigned entry, float delta, float* out) {
  for (int i = 0; i < 8; ++i)
    out[i] = scale * (as_float(static_cast<int>(entry >> (2 * i) & 3) - 1) + delta);
}

}  // namespace

void iq2_xxs(const Byte* block, float* out) {
  const float d = half_at(block);
  for (int g = 0; g < kGroups; ++g) {
    const Byte* of_four = block + 2 + g / 4 * 8;
    const std::uint32_t word = word_at(of_four + 4);
    const float scale = d * (0.5f + static_cast<float>(word >> 28)) * 0.25f;
    group_of_2(scale, kIq2XxsGrid[of_four[g % 4]], even_signs(word >> (g % 4 * 7)), out + 8 * g);
  }
}

void iq2_xs(const Byte* block, float* out) {
  const float d = half_at(block);
  for (int g = 0; g < kGroups; ++g) {
    const unsigned code = short_at(block + 2 + 2 * g);
    const float scale = d * (0.5f + as_float(scale_at(block + 66, g / 2))) * 0.25f;
    group_of_2(scale, kIq2XsGrid[code & 511], even_signs(code >> 9), out + 8 * g);
  }
}

void iq2_s(const Byte* block, float* out) {
  const float d = half_at(block);
  for (int g = 0; g < kGroups; ++g) {
    const int code = block[2 + g] | ((block[66 + g / 4] >> (g % 4 * 2)) & 3) << 8;
    const float scale = d * (0.5f + as_float(scale_at(block + 74, g / 2))) * 0.25f;
    group_of_2(scale, kIq2SGrid[code], block[34 + g], out + 8 * g);
  }
}

void iq3_xxs(const Byte* block, float* out) {
  static constexpr float kSizes[] = {4, 12, 20, 28, 36, 44, 52, 62};
  const float d = half_at(block);
  for (int g = 0; g < kGroups; ++g) {
    const std::uint32_t word = word_at(block + 66 + g / 4 * 4);
    const float scale = d * (0.5f + static_cast<float>(word >> 28)) * 0.5f;
    group_of_3(scale, kSizes, kIq3XxsGrid[block[2 + 2 * g]], kIq3XxsGrid[block[3 + 2 * g]],
               even_signs(word >> (g % 4 * 7)), out + 8 * g);
  }
}

void iq3_s(const Byte* block, float* out) {
  static constexpr float kSizes[] = {1, 3, 5, 7, 9, 11, 13, 15};
  const float d = half_at(block);
  const auto entry = [&](int e) {
    return kIq3SGrid[block[2 + e] | ((block[66 + e / 8] >> (e % 8)) & 1) << 8];
  };
  for (int g = 0; g < kGroups; ++g) {
    const float scale = d * as_float(1 + 2 * scale_at(block + 106, g / 4));
    group_of_3(scale, kSizes, entry(2 * g), entry(2 * g + 1), block[74 + g], out + 8 * g);
  }
}

void iq1_s(const Byte* block, float* out) {
  const float d = half_at(block);
  for (int g = 0; g < kGroups; ++g) {
    const unsigned high = short_at(block + 34 + g / 4 * 2);
    const unsigned code = block[2 + g] | (high >> (g % 4 * 3) & 7) << 8;
    const float scale = d * as_float(static_cast<int>(2 * (high >> 12 & 7) + 1));
    group_of_1(scale, kIq1Grid[code], (high & 0x8000) != 0 ? -0.125f : 0.125f, out + 8 * g);
  }
}

// The fp16 scale is spread over the upper four bits of four words; the rest of each word is four
// scales of 3 bits.
void iq1_m(const Byte* block, float* out) {
  unsigned words[4], bits = 0;
  for (int k = 0; k < 4; ++k) {
    words[k] = short_at(block + 48 + 2 * k);
    bits |= words[k] >> 12 << (4 * k);
  }
  const float d = f16_to_float(static_cast<std::uint16_t>(bits));
  for (int g = 0; g < kGroups; ++g) {
    const unsigned high = block[32 + g / 2] >> (g % 2 * 4) & 15u;
    const unsigned code = block[g] | (high & 7) << 8;
    const unsigned scale = words[g / 8] >> (g / 2 % 4 * 3) & 7;
    group_of_1(d * as_float(static_cast<int>(2 * scale + 1)), kIq1Grid[code],
               (high & 8) != 0 ? -0.125f : 0.125f, out + 8 * g);
  }
}

}  // namespace triescope::formats
