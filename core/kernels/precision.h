// The types of weights and KV in memory. Arithmetic is always fp32; widening is exact, narrowing
// rounds to nearest even. A quantised type would be one more value here and one more loader in the
// *_impl.h of the kernels that read it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace triescope::kernels {

enum class Precision : std::uint8_t { kF32, kBF16 };

constexpr std::size_t element_bytes(Precision p) { return p == Precision::kF32 ? 4 : 2; }

}  // namespace triescope::kernels
