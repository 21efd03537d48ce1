// Rows of random weights as files hold them. Tests and `triescope check` check kernels with them.
// Pure functions of the generator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/rng.h"
#include "core/files/dequantise.h"

namespace triescope::formats {

// [rows, inputs] in `type`: random codes, scales and plain numbers below 2. REQUIRES: `inputs` is a
// whole number of blocks.
std::vector<std::byte> random_rows(GgmlType type, std::int64_t rows, std::int64_t inputs, Rng& rng);

// The same rows as fp32, row-major.
std::vector<float> dequantised(GgmlType type, const std::vector<std::byte>& rows);

}  // namespace triescope::formats
