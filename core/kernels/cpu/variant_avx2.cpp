// The CPU kernels for AVX2 with FMA. The file is compiled for it (CMakeLists.txt), so nothing here
// may run before the processor was asked, and no inline function of a shared header may be
// instantiated here: the linker could keep this copy for every caller.
#include "core/kernels/cpu/table.h"

#if defined(__AVX2__)
#include "core/kernels/cpu/vec_avx2.h"
// clang-format off
#include "core/kernels/cpu/table_impl.h"
// clang-format on

namespace triescope::kernels {

const CpuKernels* avx2_kernels() {
  return &kTable<Tuning{}, avx2_blocks_0, avx2_blocks_1, avx2_blocks_2, avx2_blocks_3>;
}

}  // namespace triescope::kernels
#else
namespace triescope::kernels {

const CpuKernels* avx2_kernels() { return nullptr; }

}  // namespace triescope::kernels
#endif
