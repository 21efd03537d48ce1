// The CPU kernels for any processor.
#define TRIESCOPE_TILE_ROWS 3
#include "core/kernels/cpu/vec_portable.h"
// clang-format off
#include "core/kernels/cpu/table_impl.h"
// clang-format on

namespace triescope::kernels {

const CpuKernels& portable_kernels() { return kTable; }

}  // namespace triescope::kernels
