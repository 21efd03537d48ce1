#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/kernels/cpu_variant.h"

namespace triescope::kernels {
namespace {

TEST_CASE(
    "CPU variant: a variant is in use for a scope and its thread; then the one before is again") {
  const auto all = available_variants();
  REQUIRE(!all.empty());
  CHECK(all.front() == CpuVariant::kPortable);
  CHECK(std::is_sorted(all.begin(), all.end()));
  CHECK(current_variant() == all.back());
  {
    const ScopedVariant outer(CpuVariant::kPortable);
    CHECK(current_variant() == CpuVariant::kPortable);
    {
      const ScopedVariant inner(all.back());
      CHECK(current_variant() == all.back());
    }
    CHECK(current_variant() == CpuVariant::kPortable);
    std::thread([&] { CHECK(current_variant() == all.back()); }).join();
  }
  CHECK(current_variant() == all.back());
}

TEST_CASE(
    "CPU variant: Intel's processors have tiles of their own beside AVX-512's, and use them") {
  const auto all = available_variants();
  const auto has = [&](CpuVariant variant) { return std::ranges::count(all, variant) == 1; };
#if defined(__x86_64__)
  const bool is_intel = __builtin_cpu_is("intel");
#else
  const bool is_intel = false;
#endif
  CHECK(has(CpuVariant::kAvx512Intel) == (is_intel && has(CpuVariant::kAvx512)));
  if (has(CpuVariant::kAvx512Intel)) CHECK(current_variant() == CpuVariant::kAvx512Intel);
}

TEST_CASE("CPU variant: variants have names; one that is not there is refused by it") {
  CHECK(to_string(CpuVariant::kPortable) == std::string("portable"));
  CHECK(to_string(CpuVariant::kAvx2) == std::string("AVX2"));
  CHECK(to_string(CpuVariant::kAvx512) == std::string("AVX-512"));
  CHECK(to_string(CpuVariant::kAvx512Intel) == std::string("AVX-512, Intel"));
  const auto all = available_variants();
  for (const CpuVariant variant :
       {CpuVariant::kAvx2, CpuVariant::kAvx512, CpuVariant::kAvx512Intel}) {
    if (std::find(all.begin(), all.end(), variant) != all.end()) continue;
    CHECK_THROWS_WITH_AS(ScopedVariant{variant}, doctest::Contains(to_string(variant)), Error);
  }
}

TEST_CASE("CPU variant: the environment's names choose those that are there; others are refused") {
  const auto all = available_variants();
  CHECK(variant_named("") == all.back());
  CHECK(variant_named("portable") == CpuVariant::kPortable);
  const std::pair<const char*, CpuVariant> names[] = {{"avx2", CpuVariant::kAvx2},
                                                      {"avx512", CpuVariant::kAvx512},
                                                      {"avx512-intel", CpuVariant::kAvx512Intel}};
  for (const auto& [name, variant] : names) {
    CAPTURE(name);
    if (std::ranges::count(all, variant) == 1) {
      CHECK(variant_named(name) == variant);
    } else {
      CHECK_THROWS_WITH_AS(variant_named(name), doctest::Contains(to_string(variant)), Error);
    }
  }
  CHECK_THROWS_WITH_AS(variant_named("AVX2"),
                       "TRIESCOPE_CPU: expected one of portable, avx2, avx512, avx512-intel, or "
                       "nothing; found AVX2",
                       Error);
}

}  // namespace
}  // namespace triescope::kernels
