// How weights and KV lie in memory. Arithmetic is fp32 whatever the storage; widening is exact,
// narrowing rounds to nearest even. A quantised storage would be one more value here and one more
// loader in the *_impl.h of what it serves.
#pragma once

#include <cstddef>
#include <cstdint>

namespace triescope::kernels {

enum class Storage : std::uint8_t { kF32, kBF16 };

constexpr std::size_t element_bytes(Storage s) { return s == Storage::kF32 ? 4 : 2; }

}  // namespace triescope::kernels
