// Source: ggml's block layouts as in the Python package gguf 0.19.0, quants.py. The order of
// operations is that file's, so that every value has its bits: products are rounded before they are
// added (the build forbids contraction to fma).
#include "core/formats/dequantise.h"

#include <cstring>

#include "core/base/error.h"
#include "core/formats/half.h"

namespace triescope::formats {
namespace {

constexpr int kSuper = 256;  // values in a K-quant's super-block

using Byte = unsigned char;

float half_at(const Byte* at) {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return f16_to_float(bits);
}

float as_float(int value) { return static_cast<float>(value); }

void q4_0(const Byte* block, float* out) {
  const float d = half_at(block);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * as_float((block[2 + i] & 15) - 8);
    out[i + 16] = d * as_float((block[2 + i] >> 4) - 8);
  }
}

void q4_1(const Byte* block, float* out) {
  const float d = half_at(block);
  const float m = half_at(block + 2);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * as_float(block[4 + i] & 15) + m;
    out[i + 16] = d * as_float(block[4 + i] >> 4) + m;
  }
}

// Value e of a 5-bit block: its nibble and bit e of the 32 high bits.
int five_bits(const Byte* high, const Byte* nibbles, int e) {
  const int low = e < 16 ? nibbles[e] & 15 : nibbles[e - 16] >> 4;
  return low | ((high[e / 8] >> (e % 8)) & 1) << 4;
}

void q5_0(const Byte* block, float* out) {
  const float d = half_at(block);
  for (int e = 0; e < 32; ++e) out[e] = d * as_float(five_bits(block + 2, block + 6, e) - 16);
}

void q5_1(const Byte* block, float* out) {
  const float d = half_at(block);
  const float m = half_at(block + 2);
  for (int e = 0; e < 32; ++e) out[e] = d * as_float(five_bits(block + 4, block + 8, e)) + m;
}

void q8_0(const Byte* block, float* out) {
  const float d = half_at(block);
  for (int e = 0; e < 32; ++e) out[e] = as_float(static_cast<signed char>(block[2 + e])) * d;
}

void iq4_nl(const Byte* block, float* out) {
  static constexpr float kValues[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                        1,    13,   25,  38,  53,  69,  89,  113};
  const float d = half_at(block);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * kValues[block[2 + i] & 15];
    out[i + 16] = d * kValues[block[2 + i] >> 4];
  }
}

// K-quants keep 2-bit values four to a byte: 128 values lie in 32 bytes, the first 32 in the lowest
// bits.
int two_bits(const Byte* quarters, int e) {
  return (quarters[e / 128 * 32 + e % 32] >> (e % 128 / 32 * 2)) & 3;
}

void q2_k(const Byte* block, float* out) {
  const Byte* scales = block;
  const Byte* quarters = block + 16;
  const float d = half_at(block + 80);
  const float d_min = half_at(block + 82);
  for (int e = 0; e < kSuper; ++e) {
    const int scale = scales[e / 16];
    out[e] =
        d * as_float(scale & 15) * as_float(two_bits(quarters, e)) - d_min * as_float(scale >> 4);
  }
}

void q3_k(const Byte* block, float* out) {
  const Byte* high = block;
  const Byte* quarters = block + 32;
  const Byte* packed = block + 96;
  const float d = half_at(block + 108);
  float scales[16];
  for (int k = 0; k < 16; ++k) {
    const int low = k < 8 ? packed[k] & 15 : packed[k - 8] >> 4;
    const int upper = (packed[8 + k % 4] >> (k / 4 * 2)) & 3;
    scales[k] = d * as_float((low | upper << 4) - 32);
  }
  for (int e = 0; e < kSuper; ++e) {
    const int missing = ((high[e % 32] >> (e / 32)) & 1) ^ 1;  // the bit says "do not subtract 4"
    out[e] = scales[e / 16] * as_float(two_bits(quarters, e) - missing * 4);
  }
}

// The eight 6-bit scales and minima of Q4_K and Q5_K, in 12 bytes.
void scales_and_minima(const Byte* packed, float d, float d_min, float* scales, float* minima) {
  for (int k = 0; k < 4; ++k) {
    const int last = packed[8 + k];
    scales[k] = d * as_float(packed[k] & 63);
    minima[k] = d_min * as_float(packed[4 + k] & 63);
    scales[k + 4] = d * as_float((last & 15) | ((packed[k] >> 2) & 48));
    minima[k + 4] = d_min * as_float((last >> 4) | ((packed[4 + k] >> 2) & 48));
  }
}

// 4-bit values two to a byte: 64 values lie in 32 bytes, the first 32 in the low nibbles.
int nibble(const Byte* nibbles, int e) {
  return (nibbles[e / 64 * 32 + e % 32] >> (e % 64 / 32 * 4)) & 15;
}

void q4_k(const Byte* block, float* out) {
  float scales[8];
  float minima[8];
  scales_and_minima(block + 4, half_at(block), half_at(block + 2), scales, minima);
  for (int e = 0; e < kSuper; ++e) {
    out[e] = scales[e / 32] * as_float(nibble(block + 16, e)) - minima[e / 32];
  }
}

void q5_k(const Byte* block, float* out) {
  float scales[8];
  float minima[8];
  scales_and_minima(block + 4, half_at(block), half_at(block + 2), scales, minima);
  const Byte* high = block + 16;
  for (int e = 0; e < kSuper; ++e) {
    const int value = nibble(block + 48, e) | ((high[e % 32] >> (e / 32)) & 1) << 4;
    out[e] = scales[e / 32] * as_float(value) - minima[e / 32];
  }
}

void q6_k(const Byte* block, float* out) {
  const Byte* low = block;
  const Byte* quarters = block + 128;
  const Byte* scales = block + 192;
  const float d = half_at(block + 208);
  for (int e = 0; e < kSuper; ++e) {
    const int nibbles = (low[e / 128 * 64 + e % 64] >> (e % 128 / 64 * 4)) & 15;
    const int value = (nibbles | two_bits(quarters, e) << 4) - 32;
    out[e] = d * as_float(static_cast<signed char>(scales[e / 16])) * as_float(value);
  }
}

void f16(const Byte* at, float* out) { *out = half_at(at); }

void bf16(const Byte* at, float* out) {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  *out = bf16_to_float(bits);
}

void f64(const Byte* at, float* out) {
  double value;
  std::memcpy(&value, at, sizeof value);
  *out = static_cast<float>(value);
}

void f32(const Byte* at, float* out) { std::memcpy(out, at, sizeof *out); }

struct Layout {
  GgmlType type;
  const char* name;
  int elements;
  int bytes;
};

constexpr Layout kLayouts[] = {
    {GgmlType::kF32, "F32", 1, 4},          {GgmlType::kF16, "F16", 1, 2},
    {GgmlType::kBF16, "BF16", 1, 2},        {GgmlType::kQ4_0, "Q4_0", 32, 18},
    {GgmlType::kQ4_1, "Q4_1", 32, 20},      {GgmlType::kQ5_0, "Q5_0", 32, 22},
    {GgmlType::kQ5_1, "Q5_1", 32, 24},      {GgmlType::kQ8_0, "Q8_0", 32, 34},
    {GgmlType::kQ2_K, "Q2_K", kSuper, 84},  {GgmlType::kQ3_K, "Q3_K", kSuper, 110},
    {GgmlType::kQ4_K, "Q4_K", kSuper, 144}, {GgmlType::kQ5_K, "Q5_K", kSuper, 176},
    {GgmlType::kQ6_K, "Q6_K", kSuper, 210}, {GgmlType::kIQ4_NL, "IQ4_NL", 32, 18},
    {GgmlType::kF64, "F64", 1, 8},
};

const Layout* find(GgmlType type) {
  for (const Layout& layout : kLayouts) {
    if (layout.type == type) return &layout;
  }
  return nullptr;
}

const Layout& layout_of(GgmlType type) {
  if (const Layout* found = find(type)) return *found;
  throw Error(ErrorCode::kNotSupported, "ggml tensor " + to_string(type) + " is not supported");
}

// One loop a type, so that its block function is inlined.
template <auto function>
void each_block(const Layout& layout, const Byte* in, std::size_t blocks, float* out) {
  for (std::size_t b = 0; b < blocks; ++b, in += layout.bytes, out += layout.elements) {
    function(in, out);
  }
}

}  // namespace

std::string to_string(GgmlType type) {
  const Layout* found = find(type);
  return found ? found->name : "type " + std::to_string(static_cast<std::uint32_t>(type));
}

bool is_known(GgmlType type) { return find(type) != nullptr; }
int block_elements(GgmlType type) { return layout_of(type).elements; }
int block_bytes(GgmlType type) { return layout_of(type).bytes; }

void dequantise(GgmlType type, std::span<const std::byte> blocks, std::span<float> out) {
  const Layout& layout = layout_of(type);
  const std::size_t count = blocks.size() / static_cast<std::size_t>(layout.bytes);
  if (blocks.size() % static_cast<std::size_t>(layout.bytes) != 0 ||
      out.size() != count * static_cast<std::size_t>(layout.elements)) {
    throw Error(ErrorCode::kInvalidArgument, "dequantise: " + std::to_string(blocks.size()) +
                                                 " bytes of " + to_string(type) + " are not " +
                                                 std::to_string(out.size()) + " values");
  }
  const auto* in = reinterpret_cast<const Byte*>(blocks.data());
  switch (type) {
    case GgmlType::kF32:
      return each_block<f32>(layout, in, count, out.data());
    case GgmlType::kF64:
      return each_block<f64>(layout, in, count, out.data());
    case GgmlType::kF16:
      return each_block<f16>(layout, in, count, out.data());
    case GgmlType::kBF16:
      return each_block<bf16>(layout, in, count, out.data());
    case GgmlType::kQ4_0:
      return each_block<q4_0>(layout, in, count, out.data());
    case GgmlType::kQ4_1:
      return each_block<q4_1>(layout, in, count, out.data());
    case GgmlType::kQ5_0:
      return each_block<q5_0>(layout, in, count, out.data());
    case GgmlType::kQ5_1:
      return each_block<q5_1>(layout, in, count, out.data());
    case GgmlType::kQ8_0:
      return each_block<q8_0>(layout, in, count, out.data());
    case GgmlType::kQ2_K:
      return each_block<q2_k>(layout, in, count, out.data());
    case GgmlType::kQ3_K:
      return each_block<q3_k>(layout, in, count, out.data());
    case GgmlType::kQ4_K:
      return each_block<q4_k>(layout, in, count, out.data());
    case GgmlType::kQ5_K:
      return each_block<q5_k>(layout, in, count, out.data());
    case GgmlType::kQ6_K:
      return each_block<q6_k>(layout, in, count, out.data());
    case GgmlType::kIQ4_NL:
      return each_block<iq4_nl>(layout, in, count, out.data());
  }
}

}  // namespace triescope::formats
