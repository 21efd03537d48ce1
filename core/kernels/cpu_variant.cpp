#include "core/kernels/cpu_variant.h"

#include "core/base/error.h"
#include "core/kernels/cpu/table.h"

namespace triescope::kernels {

namespace {

// -1 = the best. Kept for each thread, so that a test's choice affects no other.
thread_local int chosen_variant = -1;

bool runs(CpuVariant variant) {
  switch (variant) {
    case CpuVariant::kPortable:
      return true;
#if defined(__x86_64__)
    case CpuVariant::kAvx2:
      return avx2_kernels() != nullptr && __builtin_cpu_supports("avx2") &&
             __builtin_cpu_supports("fma");
    case CpuVariant::kAvx512Intel:
      return __builtin_cpu_is("intel") && runs(CpuVariant::kAvx512);
    case CpuVariant::kAvx512:
      return avx512_kernels() != nullptr && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma");
#endif
    default:
      return false;
  }
}

CpuVariant best_variant() {
  static const CpuVariant best = available_variants().back();
  return best;
}

const CpuKernels& kernels_of(CpuVariant variant) {
  if (variant == CpuVariant::kAvx512Intel) return *avx512_intel_kernels();
  if (variant == CpuVariant::kAvx512) return *avx512_kernels();
  if (variant == CpuVariant::kAvx2) return *avx2_kernels();
  return portable_kernels();
}

}  // namespace

const char* to_string(CpuVariant variant) {
  switch (variant) {
    case CpuVariant::kAvx2:
      return "AVX2";
    case CpuVariant::kAvx512:
      return "AVX-512";
    case CpuVariant::kAvx512Intel:
      return "AVX-512, Intel";
    default:
      return "portable";
  }
}

std::vector<CpuVariant> available_variants() {
  std::vector<CpuVariant> variants;
  for (const CpuVariant v :
       {CpuVariant::kPortable, CpuVariant::kAvx2, CpuVariant::kAvx512, CpuVariant::kAvx512Intel}) {
    if (runs(v)) variants.push_back(v);
  }
  return variants;
}

CpuVariant current_variant() {
  return chosen_variant < 0 ? best_variant() : static_cast<CpuVariant>(chosen_variant);
}

ScopedVariant::ScopedVariant(CpuVariant variant) : before_(current_variant()) {
  if (!runs(variant)) {
    throw Error(ErrorCode::kNotSupported,
                std::string("CPU kernels: this processor or build has no ") + to_string(variant) +
                    "; ask available_variants()");
  }
  chosen_variant = static_cast<int>(variant);
}

ScopedVariant::~ScopedVariant() { chosen_variant = static_cast<int>(before_); }

const CpuKernels& cpu_kernels() { return kernels_of(current_variant()); }

}  // namespace triescope::kernels
