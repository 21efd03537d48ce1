// The CPU kernels for AVX-512, tuned for AMD's processors.
// Compiled for AVX-512 (CMakeLists.txt), so nothing here may run before the processor was asked, and
// no inline function of a shared header may be instantiated here: the linker could keep this copy
// for every caller.
#include "core/kernels/cpu/table.h"

#if defined(__AVX512F__)
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12's own intrinsics pass an undefined vector where no lane of it is read (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "core/kernels/cpu/vec_avx512.h"
// clang-format off
#include "core/kernels/cpu/table_impl.h"
// clang-format on

namespace triescope::kernels {

namespace {

// Measured on Zen 4.
constexpr Tuning kAmd = {.offsets = Offsets::kLookedUp,
                         .fives = Fives::kOfHalves,
                         .addresses = Addresses::kAsCompiled,
                         .widen_once = false,
                         .fetch_few = false};

}  // namespace

const CpuKernels* avx512_kernels() { return &kTable<kAmd>; }

}  // namespace triescope::kernels
#else
namespace triescope::kernels {

const CpuKernels* avx512_kernels() { return nullptr; }

}  // namespace triescope::kernels
#endif
