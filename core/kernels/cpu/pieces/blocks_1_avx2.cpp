// A piece of the CPU kernels for blocks (LinearPiece in cpu/table.h). The rules at the top of
// variant_*.cpp apply to this source too.
#include "core/kernels/cpu/table.h"

#if defined(__AVX2__)
#include "core/kernels/cpu/vec_avx2.h"
// clang-format off
#include "core/kernels/cpu/block_piece.h"
// clang-format on

namespace triescope::kernels {

bool avx2_blocks_1(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end,
                   float* scratch) {
  return block_panels<Tuning{}, 1, kBlockPieces>(call, panel_begin, panel_end, scratch);
}

}  // namespace triescope::kernels
#endif
