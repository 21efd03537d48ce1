// Shared by the sources for AVX-512: vectors, and the tuning for each family of processors.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12's own intrinsics pass an undefined vector where no lane of it is read (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "core/kernels/cpu/tuning.h"
#include "core/kernels/cpu/vec_avx512.h"

namespace triescope::kernels {
namespace {

// Measured on Zen 4.
[[maybe_unused]] constexpr Tuning kAmd = {.offsets = Offsets::kLookedUp,
                                          .fives = Fives::kOfHalves,
                                          .addresses = Addresses::kAsCompiled,
                                          .widen_once = false,
                                          .fetch_few = false};

// Measured on Sapphire Rapids.
[[maybe_unused]] constexpr Tuning kIntel = {.spread = Spread::kOnce,
                                            .loads = CodeLoads::kEach,
                                            .pairs = true,
                                            .decode_once = true,
                                            .fetch_kv = false};

}  // namespace
}  // namespace triescope::kernels
