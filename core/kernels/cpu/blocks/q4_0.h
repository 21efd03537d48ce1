// ggml Q4_0: d * (code - 8).
#pragma once

#include "core/kernels/cpu/blocks/nibble_block.h"

namespace triescope::kernels {
namespace {

using Q4_0 = NibbleBlock<SignedCodes<4>>;

}  // namespace
}  // namespace triescope::kernels
