// The CPU kernels for any processor.
#include "core/kernels/cpu/vec_portable.h"
// clang-format off
#include "core/kernels/cpu/table_impl.h"
// clang-format on

namespace triescope::kernels {

const CpuKernels& portable_kernels() { return kTable<Tuning{}, block_panels<Tuning{}, 0, 1>>; }

}  // namespace triescope::kernels
