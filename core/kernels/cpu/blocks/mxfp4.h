// MXFP4, the OCP microscaling format (ggml's layout of it): 4-bit floating point values, doubled, times
// half of the block's power of two. Codes have a sign, two bits of exponent and one of mantissa; the
// scale is 2^(e - 127), in the byte before them.
#pragma once

#include "core/kernels/cpu/blocks/nibble_block.h"
#include "core/kernels/cpu/blocks/table_bytes.h"

namespace triescope::kernels {
namespace {

struct Mxfp4Codes {
  static constexpr float kTable[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  using Table = SignedTableBytes<kTable>;  // the scale times 12 may overflow
  static constexpr int kBits = 4;
  static constexpr bool kMinimum = false, kFewerPairs = false;
  template <class V, int NV, Decoding kHow>
  struct Weights {
    const BlockHalves<NibbleBlock<Mxfp4Codes, 1>, V, NV>& scales;
    typename V::Lookup table{kTable};
    explicit Weights(const decltype(scales)& of_block) : scales(of_block) {}
    V operator()(int v, const std::uint32_t* word, int at) const {
      return scales.at[0][v] * table(V::template codes_from<kHow.loads>(word, at));
    }
  };
};
using Mxfp4 = NibbleBlock<Mxfp4Codes, 1>;

// Half of 2^(e - 127), for the byte e of each output: for e > 1 a float with the exponent e - 1, else one
// below the normal numbers. The one that is not meant is smaller, or minus infinity.
template <class V, int NV>
struct BlockHalves<Mxfp4, V, NV> {
  V at[1][NV];
  explicit BlockHalves(const Column (&in)[NV]) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      const typename V::Codes e = V::codes(bytes(in[v], Mxfp4::kWords * 4 * kBlockLanes, 0));
      at[0][v] = V::max(float_of_bits<V>((e - 1u) << 23), float_of_bits<V>((e + 1u) << 21));
    }
  }
};

}  // namespace
}  // namespace triescope::kernels
