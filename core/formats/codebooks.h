// The codebooks of ggml's IQ1, IQ2 and IQ3 types: a code names an entry, an entry the sizes of
// several values.
#pragma once

#include <cstdint>

namespace triescope::formats {

// Eight values an entry, 2 bits each, the first in the lowest.
extern const std::uint16_t kIq2XxsGrid[256], kIq2XsGrid[512], kIq2SGrid[1024], kIq1Grid[2048];
// Four values an entry, 4 bits each (of which 3 are used).
extern const std::uint16_t kIq3XxsGrid[256], kIq3SGrid[512];

}  // namespace triescope::formats
