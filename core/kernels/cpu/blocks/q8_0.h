// ggml Q8_0: 32 values of 8 bits, one scale.
// Panel block: values, signed byte [32][32]; d, fp16 [32].
// Values: value * d, with the operations of formats::dequantise in their order.
#pragma once

#include "core/kernels/cpu/blocks/packing.h"

namespace triescope::kernels {
namespace {

struct Q8_0 {
  static constexpr int kValues = 32, kUnit = 32, kFileBytes = 34;
  static constexpr bool kFetchSpread = true;
  static constexpr int kPairRows = 6;
  static constexpr bool kFewerPairs = false;
  static constexpr int kWords = 0, kBytes = 32, kHalves = 1;
  static constexpr int kPanelBytes = kFileBytes * kBlockLanes;

  template <class V, class To>
  static inline __attribute__((always_inline)) void repack(const FileBlocks<V>& from,
                                                           const To& to) {
    to.sixteen_bytes(0, from.sixteen(2));
    to.sixteen_bytes(16, from.sixteen(18));
    to.half(0, from.sixteen(0).at[0]);
  }

  template <class V, int NV, Decoding kHow, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV],
                                                           const BlockHalves<Q8_0, V, NV>& fp16,
                                                           int /*unit*/, const Use& use) {
#pragma GCC unroll 8
    for (int k = 0; k < 32; ++k) {
      V w[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) w[v] = V::number(signed_bytes(in[v], 0, k)) * fp16.at[0][v];
      use(k, w);
    }
  }
};

}  // namespace
}  // namespace triescope::kernels
