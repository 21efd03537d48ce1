// ggml IQ4_NL: d * table[code].
#pragma once

#include "core/kernels/cpu/blocks/nibble_block.h"

namespace triescope::kernels {
namespace {

struct Iq4NlCode {
  static constexpr float kTable[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                       1,    13,   25,  38,  53,  69,  89,  113};
  static constexpr bool kFifth = false;
  template <class V>
  struct Numbers {
    typename V::Lookup table{kTable};
    V operator()(typename V::Codes word, int at) const { return table(word >> at); }
  };
};
using Iq4Nl = NibbleBlock<Iq4NlCode, false>;

}  // namespace
}  // namespace triescope::kernels
