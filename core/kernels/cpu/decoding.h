// Ways to decode a block's weights that give the same numbers; which is best depends on the processor
// and on what they are for.
#pragma once

#include <cstdint>

namespace triescope::kernels {
namespace {

// The sign of a weight that is zero: the one of formats::dequantise, or any.
enum class Zeros : std::uint8_t { kSigned, kAny };

// Codes of a word come to its lowest bits by shifts; or each is loaded from the byte on in which it
// begins, and shifted by what is left. Such loads cross lines of the cache, and pay on Intel's
// processors, which load as much as they compute (Q4_K, a core of Sapphire Rapids, 1 to 3 rows: 6 to
// 12 % less time); AMD's load one vector of 64 bytes a cycle, and x needs loads too.
enum class CodeLoads : std::uint8_t { kOnce, kEach };

struct Decoding {
  Zeros zeros;
  CodeLoads loads;
};

}  // namespace
}  // namespace triescope::kernels
