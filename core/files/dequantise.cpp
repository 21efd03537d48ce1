// Source: ggml's block layouts as in the Python package gguf 0.19.0, quants.py. The order of
// operations is that file's, so that every value has the same bits: products are rounded before
// they are added (the build forbids contraction to fma).
#include "core/files/dequantise.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/base/error.h"
#include "core/files/block_decoders.h"
#include "core/files/half.h"

namespace triescope::formats {
namespace {

constexpr int kSuper = 256;  // values in a K-quant's super-block

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

// K-quants keep four 2-bit values in a byte: 128 values lie in 32 bytes, the first 32 in the lowest
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

// Two 4-bit values share a byte: 64 values lie in 32 bytes, the first 32 in the low nibbles.
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

// All blocks of one type. Each type has a loop of its own, so that the block's function is inlined.
template <auto function, int bytes, int elements>
void each_block(const Byte* in, std::size_t blocks, float* out) {
  for (std::size_t b = 0; b < blocks; ++b, in += bytes, out += elements) function(in, out);
}

template <auto function, int elements, int bytes>
constexpr TypeInfo row(GgmlType type, const char* name, int exponent, int second = -1,
                       unsigned char highest = 0x40) {
  return {type,   name, elements, bytes, each_block<function, bytes, elements>, {exponent, second},
          highest};
}

// One row a type, in the order in which messages name them.
constexpr TypeInfo kTypes[] = {
    row<f64, 1, 8>(GgmlType::kF64, "F64", 7),
    row<f32, 1, 4>(GgmlType::kF32, "F32", 3),
    row<f16, 1, 2>(GgmlType::kF16, "F16", 1),
    row<bf16, 1, 2>(GgmlType::kBF16, "BF16", 1),
    row<q4_0, 32, 18>(GgmlType::kQ4_0, "Q4_0", 1),
    row<q4_1, 32, 20>(GgmlType::kQ4_1, "Q4_1", 1, 3),
    row<q5_0, 32, 22>(GgmlType::kQ5_0, "Q5_0", 1),
    row<q5_1, 32, 24>(GgmlType::kQ5_1, "Q5_1", 1, 3),
    row<q8_0, 32, 34>(GgmlType::kQ8_0, "Q8_0", 1),
    row<q2_k, 256, 84>(GgmlType::kQ2_K, "Q2_K", 81, 83),
    row<q3_k, 256, 110>(GgmlType::kQ3_K, "Q3_K", 109),
    row<q4_k, 256, 144>(GgmlType::kQ4_K, "Q4_K", 1, 3),
    row<q5_k, 256, 176>(GgmlType::kQ5_K, "Q5_K", 1, 3),
    row<q6_k, 256, 210>(GgmlType::kQ6_K, "Q6_K", 209),
    row<iq4_nl, 32, 18>(GgmlType::kIQ4_NL, "IQ4_NL", 1),
    row<iq4_xs, 256, 136>(GgmlType::kIQ4_XS, "IQ4_XS", 1),
    row<iq3_s, 256, 110>(GgmlType::kIQ3_S, "IQ3_S", 1),
    row<iq3_xxs, 256, 98>(GgmlType::kIQ3_XXS, "IQ3_XXS", 1),
    row<iq2_s, 256, 82>(GgmlType::kIQ2_S, "IQ2_S", 1),
    row<iq2_xs, 256, 74>(GgmlType::kIQ2_XS, "IQ2_XS", 1),
    row<iq2_xxs, 256, 66>(GgmlType::kIQ2_XXS, "IQ2_XXS", 1),
    row<iq1_m, 256, 56>(GgmlType::kIQ1_M, "IQ1_M", 55),
    row<iq1_s, 256, 50>(GgmlType::kIQ1_S, "IQ1_S", 1),
    row<tq1_0, 256, 54>(GgmlType::kTQ1_0, "TQ1_0", 53),
    row<tq2_0, 256, 66>(GgmlType::kTQ2_0, "TQ2_0", 65),
    row<mxfp4, 32, 17>(GgmlType::kMXFP4, "MXFP4", 0, -1, 0x80),
    row<nvfp4, 64, 36>(GgmlType::kNVFP4, "NVFP4", -1),
};

const TypeInfo& info_of(GgmlType type) {
  if (const TypeInfo* found = find_type(type)) return *found;
  throw Error(ErrorCode::kNotSupported, "ggml tensor " + to_string(type) + " is not supported");
}

}  // namespace

std::span<const TypeInfo> ggml_types() { return kTypes; }

const TypeInfo* find_type(GgmlType type) {
  const auto* const found = std::ranges::find(kTypes, type, &TypeInfo::type);
  return found == std::end(kTypes) ? nullptr : found;
}

const TypeInfo* find_type(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kTypes, [&](const TypeInfo& info) { return info.name == name; });
  return found == std::end(kTypes) ? nullptr : found;
}

std::string to_string(GgmlType type) {
  const TypeInfo* found = find_type(type);
  return found ? found->name : "type " + std::to_string(static_cast<std::uint32_t>(type));
}

int block_elements(GgmlType type) { return info_of(type).elements; }
int block_bytes(GgmlType type) { return info_of(type).bytes; }

void dequantise(GgmlType type, std::span<const std::byte> blocks, std::span<float> out) {
  const TypeInfo& info = info_of(type);
  const std::size_t count = blocks.size() / static_cast<std::size_t>(info.bytes);
  if (blocks.size() % static_cast<std::size_t>(info.bytes) != 0 ||
      out.size() != count * static_cast<std::size_t>(info.elements)) {
    throw Error(ErrorCode::kInvalidArgument, "dequantise: " + std::to_string(blocks.size()) +
                                                 " bytes of " + to_string(type) + " are not " +
                                                 std::to_string(out.size()) + " values");
  }
  info.dequantise(reinterpret_cast<const Byte*>(blocks.data()), count, out.data());
}

}  // namespace triescope::formats
