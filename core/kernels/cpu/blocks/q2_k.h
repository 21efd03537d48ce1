// ggml Q2_K: 256 values of 2 bits; scale and minimum of 4 bits each for every 16, both times an
// fp16. Panel block: codes, word [16][32] (16 values each); scales (low 4 bits) and minima (high),
// byte [16][32]; d, then d_min, fp16 [32] each.
// Values: d * scale * code - d_min * minimum. formats::dequantise rounds the products, which are
// exact (11 bits times 4, times 2), and the difference: a fused operation gives the same bits.
#pragma once

#include "core/kernels/cpu/blocks/packing.h"

namespace triescope::kernels {
namespace {

struct Q2_K {
  static constexpr int kValues = 256, kUnit = 16, kFileBytes = 84;
  static constexpr bool kFetchSpread = false;
  static constexpr int kPairRows = 1;
  static constexpr bool kFewerPairs = false;
  static constexpr int kWords = 16, kBytes = 16, kHalves = 2;
  static constexpr int kPanelBytes = kFileBytes * kBlockLanes;
  static constexpr int kScales = 2048;  // byte offset

  template <class V, class To>
  static inline __attribute__((always_inline)) void repack(const FileBlocks<V>& from,
                                                           const To& to) {
    put_quarters(from, 16, to);
    to.sixteen_bytes(0, from.sixteen(0));
    const auto end = from.sixteen(kFileBytes - 16);
    to.half(0, end.at[3]);
    to.half(1, end.at[3] >> 16);
  }

  // unit 0 .. 15: the 16 values of one scale.
  template <class V, int NV, Decoding kHow, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV],
                                                           const BlockHalves<Q2_K, V, NV>& fp16,
                                                           int unit, const Use& use) {
    V scale[NV], minimum[NV];
    const typename V::template Small<4> fours;
    const typename V::template Small<2> numbers;
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      const typename V::Codes both = V::codes(bytes(in[v], kScales, unit));
      scale[v] = fp16.at[0][v] * fours(both, 0);
      minimum[v] = fp16.at[1][v] * fours(both, 4);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      V w[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v)
        w[v] = V::fms(scale[v], numbers.template of<kHow.loads>(words(in[v], 0, unit), i * 2),
                      minimum[v]);
      use(i, w);
    }
  }
};

}  // namespace
}  // namespace triescope::kernels
