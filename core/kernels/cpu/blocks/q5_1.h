// ggml Q5_1: d * code + minimum, codes of 5 bits.
#pragma once

#include "core/kernels/cpu/blocks/nibble_block.h"

namespace triescope::kernels {
namespace {

using Q5_1 = NibbleBlock<CodesAndMinimum<5>>;

}  // namespace
}  // namespace triescope::kernels
