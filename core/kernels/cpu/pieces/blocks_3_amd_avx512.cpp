// A piece of the CPU kernels for blocks (LinearPiece in cpu/table.h). The rules at the top of
// variant_*.cpp apply to this source too.
#include "core/kernels/cpu/table.h"

#if defined(__AVX512F__)
#include "core/kernels/cpu/setting_avx512.h"
// clang-format off
#include "core/kernels/cpu/block_piece.h"
// clang-format on

namespace triescope::kernels {

bool amd_blocks_3(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end,
                  float* scratch) {
  return block_panels<kAmd, 3, kBlockPieces>(call, panel_begin, panel_end, scratch);
}

}  // namespace triescope::kernels
#endif
