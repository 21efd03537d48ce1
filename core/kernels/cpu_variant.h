// Which instruction set the CPU kernels run on: the best this processor has, asked once. AVX-512 is
// there twice, as it suits AMD's processors and as it suits Intel's (cpu/tuning.h); Intel's run both.
// Tests run every variant.
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
