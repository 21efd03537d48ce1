// The instruction set on which the CPU kernels run: the best that this processor has, determined
// once. AVX-512 exists twice, tuned for AMD's and for Intel's processors (cpu/tuning.h); Intel's
// run both. Tests run every variant.
#pragma once

#include <cstdint>
#include <vector>

namespace triescope::kernels {

enum class CpuVariant : std::uint8_t { kPortable, kAvx2, kAvx512, kAvx512Intel };

const char* to_string(CpuVariant variant);  // "portable", "AVX2", "AVX-512", "AVX-512, Intel"

// The variants built into this program that this processor can run, best last.
std::vector<CpuVariant> available_variants();
// The variant in use in this thread: the best, unless a ScopedVariant is alive.
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
