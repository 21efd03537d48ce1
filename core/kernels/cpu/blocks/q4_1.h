// ggml Q4_1: d * code + minimum.
#pragma once

#include "core/kernels/cpu/blocks/nibble_block.h"

namespace triescope::kernels {
namespace {

using Q4_1 = NibbleBlock<CodesAndMinimum<4>>;

}  // namespace
}  // namespace triescope::kernels
