// ggml Q5_0: d * (code - 16), codes of 5 bits.
#pragma once

#include "core/kernels/cpu/blocks/nibble_block.h"

namespace triescope::kernels {
namespace {

using Q5_0 = NibbleBlock<SignedCodes<5>>;

}  // namespace
}  // namespace triescope::kernels
