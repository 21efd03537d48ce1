// ggml IQ4_NL: d * table[code].
#pragma once

#include "core/kernels/cpu/blocks/nibble_block.h"
#include "core/kernels/cpu/blocks/table_bytes.h"

namespace triescope::kernels {
namespace {

struct Iq4NlCodes {
  static constexpr float kTable[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                       1,    13,   25,  38,  53,  69,  89,  113};
  using Table = TableBytes<kTable>;
  static constexpr int kBits = 4;
  static constexpr bool kMinimum = false, kFewerPairs = false;
  template <class V, int NV, Decoding kHow>
  struct Weights {
    const BlockHalves<NibbleBlock<Iq4NlCodes>, V, NV>& fp16;
    typename V::Lookup table{kTable};
    explicit Weights(const decltype(fp16)& d) : fp16(d) {}
    V operator()(int v, const std::uint32_t* word, int at) const {
      return fp16.at[0][v] * table(V::template codes_from<kHow.loads>(word, at));
    }
  };
};
using Iq4Nl = NibbleBlock<Iq4NlCodes>;

}  // namespace
}  // namespace triescope::kernels
