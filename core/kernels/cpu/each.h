// A loop of constants, for arrays that stay in registers. Internal to this folder.
#pragma once

#include <utility>

namespace triescope::kernels {
namespace {

// f<0>(), f<1>(), .. f<kCount - 1>(). An array that is indexed so stays in registers. One that is
// indexed in a loop does so only where compilers unroll the loop early, and GCC 12 left the sums of
// some tiles in memory (a Zen 4 core, AVX2: Q5_0 and Q5_1 with one row 0.49 and 0.70 of the time,
// with four 0.82 and 0.55, Q5_K with four 0.67).
template <int kCount, class F>
inline __attribute__((always_inline)) void each(const F& f) {
  [&]<int... kAt>(std::integer_sequence<int, kAt...>) __attribute__((always_inline)) {
    (f.template operator()<kAt>(), ...);
  }
  (std::make_integer_sequence<int, kCount>());
}

}  // namespace
}  // namespace triescope::kernels
