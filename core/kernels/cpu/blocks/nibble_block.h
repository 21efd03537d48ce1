// The block types of 32 values whose codes have 4 bits, and a fifth in Q5: a scale (fp16), in some
// a
// minimum.
// File: d, minimum (where there is one), fifth bits (32, where there are), codes: byte i has value
// i
// in its low and value i + 16 in its high bits.
// Panel block: codes, word [4][32] (8 values each); fifth bits, word [32]; d, then the minimum,
// fp16
// [32] each.
// Values: d * code (+ minimum), with the operations of formats::dequantise in their order.
#pragma once

#include "core/kernels/cpu/blocks/packing.h"

namespace triescope::kernels {
namespace {

// Code::value<V>() makes what turns codes into floats.
template <class Code, bool kFifth, bool kMinimum>
struct NibbleBlock {
  static constexpr int kValues = 32, kUnit = 32;
  static constexpr int kFifthAt = kMinimum ? 4 : 2, kCodesAt = kFifthAt + (kFifth ? 4 : 0);
  static constexpr int kFileBytes = kCodesAt + 16;
  static constexpr int kPanelBytes = kFileBytes * kBlockLanes;
  static constexpr int kD = (kFifth ? 5 : 4) * 4 * kBlockLanes, kMinimumAt = kD + 2 * kBlockLanes;

  static void repack(const unsigned char* block, int lane, unsigned char* out) {
    for (int e = 0; e < 32; e += 8)
      put(out, e / 8, lane, squeeze_at<4>(block + kCodesAt + e % 16, e / 16 * 4));
    if constexpr (kFifth) {
      std::uint32_t bits;
      std::memcpy(&bits, block + kFifthAt, sizeof bits);
      put(out, 4, lane, bits);
    }
    put_half(out + kD, lane, block);
    if constexpr (kMinimum) put_half(out + kMinimumAt, lane, block + 2);
  }

  template <class V, int NV, class Use>
  static inline __attribute__((always_inline)) void decode(const unsigned char* in, int /*unit*/,
                                                           int n, const Use& use) {
    V d[NV], minimum[NV];
    typename V::Codes code[NV], fifth[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      d[v] = V::load(halves(in + kD, n + v * V::kLanes));
      if constexpr (kMinimum) minimum[v] = V::load(halves(in + kMinimumAt, n + v * V::kLanes));
      if constexpr (kFifth) fifth[v] = V::codes(words(in, 4, n + v * V::kLanes));
    }
    const auto value = Code::template value<V>();
#pragma GCC unroll 32
    for (int k = 0; k < 32; ++k) {
      V w[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) {
        if (k % 8 == 0) code[v] = V::codes(words(in, k / 8, n + v * V::kLanes));
        typename V::Codes at_k = code[v] >> (k % 8 * 4);
        if constexpr (kFifth)
          at_k = V::merge(at_k, k < 4 ? fifth[v] << (4 - k) : fifth[v] >> (k - 4), 15);
        w[v] = d[v] * value(at_k);
        if constexpr (kMinimum) w[v] = w[v] + minimum[v];
      }
      use(k, w);
    }
  }
};

// Codes of `Bits` bits that stand for themselves, less an offset.
template <int Bits, int Offset>
struct PlainCode {
  template <class V>
  static auto value() {
    return typename V::template Small<Bits, Offset>();
  }
};

}  // namespace
}  // namespace triescope::kernels
