// Random data for kernel tests, and every CPU variant this machine can run.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/bf16.h"
#include "core/base/rng.h"
#include "core/kernels/cpu_variant.h"
#include "core/kernels/cuda_cases/random_inputs.h"

namespace triescope::kernels::test {

using kernels::random_values;
using kernels::shuffled;

inline std::vector<std::uint16_t> to_bf16(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  for (const float v : values) bits.push_back(float_to_bf16(v));
  return bits;
}

inline std::vector<float> rounded_to_bf16(const std::vector<float>& values) {
  std::vector<float> rounded;
  for (const float v : values) rounded.push_back(bf16_to_float(float_to_bf16(v)));
  return rounded;
}

// First place where two ranges differ as bits, -1 if none: equal means equal to the last bit.
inline std::int64_t first_difference(const float* a, const float* b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::memcmp(a + i, b + i, sizeof(float)) != 0) return i;
  }
  return -1;
}

template <class F>
void for_each_variant(F f) {
  for (const CpuVariant variant : available_variants()) {
    const ScopedVariant use(variant);
    f(to_string(variant));
  }
}

}  // namespace triescope::kernels::test
