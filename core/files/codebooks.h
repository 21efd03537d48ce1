// The codebooks of ggml's IQ1, IQ2 and IQ3 types: a code names an entry, and an entry holds the
// sizes of several values.
#pragma once

#include <cstdint>

namespace triescope::formats {

// An entry is eight values of 2 bits each, the first in the lowest bits.
extern const std::uint16_t kIq2XxsGrid[256], kIq2XsGrid[512], kIq2SGrid[1024], kIq1Grid[2048];
// An entry is four values of 4 bits each (3 of them used).
extern const std::uint16_t kIq3XxsGrid[256], kIq3SGrid[512];

}  // namespace triescope::formats
