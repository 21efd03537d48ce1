// ggml Q5_K: 256 values of 5 bits; scale and minimum of 6 bits each for every 32, both times an
// fp16. Panel block: low 4 bits, word [32][32] (8 values each); fifth bits, word [8][32], that of
// value 8 w + i at 4 i + w; scales, then minima, byte [8][32] each; d, then d_min, fp16 [32] each.
// Values: d * scale * code - d_min * minimum. formats::dequantise rounds the products, which are
// exact (11 bits times 6, times 5), and the difference: a fused operation gives the same bits.
#pragma once

#include "core/kernels/cpu/blocks/packing.h"

namespace triescope::kernels {
namespace {

struct Q5_K {
  static constexpr int kValues = 256, kUnit = 32, kFileBytes = 176;
  static constexpr int kWords = 40, kBytes = 16, kHalves = 2;
  static constexpr int kPanelBytes = 180 * kBlockLanes;  // scales and minima have a byte each here
  static constexpr int kFifth = 4096, kScales = 5120, kMinima = 5376, kD = 5632;  // byte offsets

  static void repack(const unsigned char* block, Lane to) {
    put_nibbles<32, 128>(block + 48, to.words);
    const Bytes16 first = sixteen(block + 16), second = sixteen(block + 32);
    const auto fifth = [&]<int kBit>() {
      return fold<1>(two_bits<kBit, 2>(first, second), two_bits<kBit + 1, 2>(first, second));
    };
    put_words(to.words + 32,
              join<4>(fifth.template operator()<0>(), fifth.template operator()<2>()));
    put_words(to.words + 36,
              join<4>(fifth.template operator()<4>(), fifth.template operator()<6>()));
    put_scales_and_minima(block + 4, to.bytes);
    put_half(to.halves[0], block);
    put_half(to.halves[1], block + 2);
  }

  // unit 0 .. 7: the 32 values of one scale.
  template <class V, int NV, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV], int unit,
                                                           const Use& use) {
    using Numbers = typename V::template Joined<4, 1, 0>;
    V d[NV], d_min[NV], scale[NV], minimum[NV];
    typename V::Codes high[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      d[v] = V::load(halves(in[v], kD)) * V::set(1 / Numbers::kUnit);
      d_min[v] = V::load(halves(in[v], kD + 64));
    }
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      scale[v] = d[v] * V::number(V::codes(bytes(in[v], kScales, unit)));
      minimum[v] = d_min[v] * V::number(V::codes(bytes(in[v], kMinima, unit)));
      high[v] = V::codes(words(in[v], kFifth, unit));
    }
#pragma GCC unroll 1
    for (int word = 0; word < 4; ++word) {
      Numbers numbers[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v)
        numbers[v] = Numbers(V::codes(words(in[v], 0, unit * 4 + word)), high[v], word);
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        V w[NV];
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v) w[v] = V::fms(scale[v], numbers[v](i), minimum[v]);
        use(word * 8 + i, w);
      }
    }
  }
};

}  // namespace
}  // namespace triescope::kernels
