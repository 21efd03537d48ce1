// The CPU kernels for AVX-512, tuned for AMD's processors. The file is compiled for AVX-512
// (CMakeLists.txt), so nothing here may run before the processor was asked, and no inline function
// of a shared header may be instantiated here: the linker could keep this copy for every caller.
#include "core/kernels/cpu/table.h"

#if defined(__AVX512F__)
#include "core/kernels/cpu/setting_avx512.h"
// clang-format off
#include "core/kernels/cpu/table_impl.h"
// clang-format on

namespace triescope::kernels {

const CpuKernels* avx512_kernels() {
  return &kTable<kAmd, amd_blocks_0, amd_blocks_1, amd_blocks_2, amd_blocks_3>;
}

}  // namespace triescope::kernels
#else
namespace triescope::kernels {

const CpuKernels* avx512_kernels() { return nullptr; }

}  // namespace triescope::kernels
#endif
