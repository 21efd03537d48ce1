// ggml Q6_K: 256 values of 6 bits; a signed scale of 8 bits for every 16, times an fp16.
// Panel block: low 4 bits, word [32][32] (8 values each); upper 2 bits, word [16][32], those of
// value 8 w + i at 4 i + 2 w; scales, signed byte [16][32]; d, fp16 [32].
// Values: d * scale * (code - 32), with the operations of formats::dequantise in their order.
#pragma once

#include "core/kernels/cpu/blocks/packing.h"

namespace triescope::kernels {
namespace {

struct Q6_K {
  static constexpr int kValues = 256, kUnit = 16, kFileBytes = 210;
  static constexpr bool kFetchSpread = false;
  static constexpr int kWords = 48, kBytes = 16, kHalves = 1;
  static constexpr int kPanelBytes = kFileBytes * kBlockLanes;
  static constexpr int kUpper = 4096, kScales = 6144, kD = 6656;  // byte offsets

  static void repack(const unsigned char* block, Lane to) {
    put_nibbles<64, 128>(block, to.words);
    put_quarters(block + 128, to.words + 32, [](Bytes16 a, Bytes16 b, Bytes16 c, Bytes16 d) {
      return join<4>(fold<2>(a, b), fold<2>(c, d));
    });
    std::memcpy(to.bytes, block + 192, 16);
    put_half(to.halves[0], block + 208);
  }

  // unit 0 .. 15: the 16 values of one scale.
  template <class V, int NV, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV], int unit,
                                                           const Use& use) {
    using Numbers = typename V::template Joined<4, 2, -32>;
    V d[NV], scale[NV];
    typename V::Codes high[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) d[v] = V::load(halves(in[v], kD)) * V::set(1 / Numbers::kUnit);
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      scale[v] = d[v] * V::number(signed_bytes(in[v], kScales, unit));
      high[v] = V::codes(words(in[v], kUpper, unit));
    }
#pragma GCC unroll 2
    for (int word = 0; word < 2; ++word) {
      Numbers numbers[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v)
        numbers[v] = Numbers(V::codes(words(in[v], 0, unit * 2 + word)), high[v], word);
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        V w[NV];
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v) w[v] = scale[v] * numbers[v](i);
        use(word * 8 + i, w);
      }
    }
  }
};

}  // namespace
}  // namespace triescope::kernels
