// The instruction set on which the CPU kernels run: the best that this processor has, or the one
// that $TRIESCOPE_CPU names, determined once. AVX-512 exists twice, tuned for AMD's and for Intel's processors (cpu/tuning.h); Intel's
// run both. Tests run every variant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace triescope::kernels {

enum class CpuVariant : std::uint8_t { kPortable, kAvx2, kAvx512, kAvx512Intel };

const char* to_string(CpuVariant variant);  // "portable", "AVX2", "AVX-512", "AVX-512, Intel"

// The variants built into this program that this processor can run, best last.
std::vector<CpuVariant> available_variants();
// The variant of a name as $TRIESCOPE_CPU has it: portable, avx2, avx512 or avx512-intel; "" = the
// best. Error{kInvalidArgument}: there is no such name. Error{kNotSupported}: this processor or
// build has no such variant.
CpuVariant variant_named(const std::string& name);
// The variant in use in this thread: that of $TRIESCOPE_CPU, unless a ScopedVariant is alive. Errors
// of the first call, and of each until one succeeds: those of variant_named().
CpuVariant current_variant();

// For tests and benchmarks: makes calls of this thread use `variant` (must be available) until
// destroyed.
class ScopedVariant {
 public:
  explicit ScopedVariant(CpuVariant variant);
  ~ScopedVariant();
  ScopedVariant(const ScopedVariant&) = delete;
  ScopedVariant& operator=(const ScopedVariant&) = delete;

 private:
  CpuVariant before_;
};

}  // namespace triescope::kernels
