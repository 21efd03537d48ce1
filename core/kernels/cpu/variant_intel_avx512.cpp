// The CPU kernels for AVX-512 that are tuned for Intel's processors; the other kernels are those of
// variant_avx512.cpp. The file is compiled for AVX-512 (CMakeLists.txt), so nothing here may run
// before the processor was asked, and no inline function of a shared header may be instantiated
// here: the linker could keep this copy for every caller.
#include "core/kernels/cpu/table.h"

#if defined(__AVX512F__)
#if defined(__GNUC__) && !defined(__clang__)
// Functions that AMD's table has too come from there.
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include "core/kernels/cpu/setting_avx512.h"
// clang-format off
#include "core/kernels/cpu/attention_impl.h"
#include "core/kernels/cpu/linear_impl.h"
// clang-format on

namespace triescope::kernels {

namespace {

CpuKernels make_table() {
  CpuKernels table = *avx512_kernels();
  table.linear_panels =
      linear_panels<kIntel, intel_blocks_0, intel_blocks_1, intel_blocks_2, intel_blocks_3>;
  table.laid_out_rows = few_rows<kIntel>(true);
  table.attention = attention<kIntel>;
  return table;
}

}  // namespace

const CpuKernels* avx512_intel_kernels() {
  static const CpuKernels table = make_table();
  return &table;
}

}  // namespace triescope::kernels
#else
namespace triescope::kernels {

const CpuKernels* avx512_intel_kernels() { return nullptr; }

}  // namespace triescope::kernels
#endif
