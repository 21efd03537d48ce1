// Types of four-bit codes that a table decodes, and types of ternary values.
#include <bit>

#include "core/files/block_decoders.h"

namespace triescope::formats {
namespace {

// `half` bytes of codes: first the values in the low nibbles, then as many in the high nibbles.
void nibbles_of(const Byte* codes, int half, const float (&values)[16], float scale, float* out) {
  for (int i = 0; i < half; ++i) {
    out[i] = scale * values[codes[i] & 15];
    out[i + half] = scale * values[codes[i] >> 4];
  }
}

constexpr float kNonLinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};
// 4-bit floating point values (1 sign, 2 exponent, 1 mantissa bit), doubled; the scales are halved.
constexpr float kDoubledFp4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Half of 2^(e - 127).
float half_power(Byte e) {
  return std::bit_cast<float>(e < 2 ? 0x00200000u << e : static_cast<std::uint32_t>(e - 1) << 23);
}

// Half of a number with 4 exponent and 3 mantissa bits (bias 7); all bits set means 0.
float half_e4m3(Byte bits) {
  if (bits == 0x7f) return 0;
  const int exponent = bits >> 3 & 15;
  const float mantissa = as_float(bits & 7);
  if (exponent == 0) return mantissa * 0x1p-10f;
  const auto power = std::bit_cast<float>(static_cast<std::uint32_t>(exponent - 7 + 127) << 23);
  return (1 + mantissa / 8) * power * 0.5f;
}

// A byte holds five ternary digits as a fraction of 256. This is the digit that multiplying by
// `power` (of 3) brings to the top.
float trit(Byte byte, int power) {
  const auto left = static_cast<Byte>(byte * power);
  return as_float((left * 3 >> 8) - 1);
}

}  // namespace

void iq4_nl(const Byte* block, float* out) {
  nibbles_of(block + 2, 16, kNonLinear, half_at(block), out);
}

void iq4_xs(const Byte* block, float* out) {
  const float d = half_at(block);
  const int high = block[2] | block[3] << 8;
  for (int k = 0; k < 8; ++k) {
    const int low = block[4 + k / 2] >> (k % 2 * 4) & 15;
    const int scale = (low | (high >> (2 * k) & 3) << 4) - 32;
    nibbles_of(block + 8 + 16 * k, 16, kNonLinear, d * as_float(scale), out + 32 * k);
  }
}

void mxfp4(const Byte* block, float* out) {
  nibbles_of(block + 1, 16, kDoubledFp4, half_power(block[0]), out);
}

void nvfp4(const Byte* block, float* out) {
  for (int k = 0; k < 4; ++k)
    nibbles_of(block + 4 + 8 * k, 8, kDoubledFp4, half_e4m3(block[k]), out + 16 * k);
}

void tq1_0(const Byte* block, float* out) {
  static constexpr int kPowers[] = {1, 3, 9, 27, 81};
  const float d = half_at(block + 52);
  const auto digits = [&](const Byte* bytes, int count, int powers) {
    for (int p = 0; p < powers; ++p)
      for (int i = 0; i < count; ++i) *out++ = d * trit(bytes[i], kPowers[p]);
  };
  digits(block, 32, 5);
  digits(block + 32, 16, 5);
  digits(block + 48, 4, 4);
}

void tq2_0(const Byte* block, float* out) {
  const float d = half_at(block + 64);
  for (int e = 0; e < 256; ++e)
    out[e] = d * as_float((block[e / 128 * 32 + e % 32] >> (e % 128 / 32 * 2) & 3) - 1);
}

}  // namespace triescope::formats
