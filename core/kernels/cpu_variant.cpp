#include "core/kernels/cpu_variant.h"

#include <cstdlib>
#include <utility>

#include "core/base/error.h"
#include "core/kernels/cpu/table.h"

namespace triescope::kernels {

namespace {

// -1 = that of the process. Kept for each thread, so that a test's choice affects no other.
thread_local int chosen_variant = -1;

// The processor is asked first: a table's file is compiled for its instruction set.
bool runs(CpuVariant variant) {
  switch (variant) {
    case CpuVariant::kPortable:
      return true;
#if defined(__x86_64__)
    case CpuVariant::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             avx2_kernels() != nullptr;
    case CpuVariant::kAvx512Intel:
      return __builtin_cpu_is("intel") && runs(CpuVariant::kAvx512) &&
             avx512_intel_kernels() != nullptr;
    case CpuVariant::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("fma") && avx512_kernels() != nullptr;
#endif
    default:
      return false;
  }
}

CpuVariant variant_of_process() {
  static const CpuVariant chosen = [] {
    const char* const name = std::getenv("TRIESCOPE_CPU");
    return variant_named(name == nullptr ? "" : name);
  }();
  return chosen;
}

void require(CpuVariant variant, const std::string& who) {
  if (runs(variant)) return;
  std::string names;
  for (const CpuVariant one : available_variants())
    names += (names.empty() ? "" : ", ") + std::string(to_string(one));
  throw Error(ErrorCode::kNotSupported,
              who + ": this processor or build has no " + to_string(variant) + "; it has " + names);
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

CpuVariant variant_named(const std::string& name) {
  if (name.empty()) return available_variants().back();
  constexpr std::pair<const char*, CpuVariant> kNames[] = {
      {"portable", CpuVariant::kPortable},
      {"avx2", CpuVariant::kAvx2},
      {"avx512", CpuVariant::kAvx512},
      {"avx512-intel", CpuVariant::kAvx512Intel}};
  std::string names;
  for (const auto& [known, variant] : kNames) {
    if (name == known) {
      require(variant, "TRIESCOPE_CPU=" + name);
      return variant;
    }
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  throw Error(ErrorCode::kInvalidArgument,
              "TRIESCOPE_CPU: expected one of " + names + ", or nothing; found " + name);
}

CpuVariant current_variant() {
  return chosen_variant < 0 ? variant_of_process() : static_cast<CpuVariant>(chosen_variant);
}

ScopedVariant::ScopedVariant(CpuVariant variant) : before_(current_variant()) {
  require(variant, "CPU kernels");
  chosen_variant = static_cast<int>(variant);
}

ScopedVariant::~ScopedVariant() { chosen_variant = static_cast<int>(before_); }

const CpuKernels& cpu_kernels() { return kernels_of(current_variant()); }

}  // namespace triescope::kernels
