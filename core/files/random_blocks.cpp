#include "core/files/random_blocks.h"

namespace triescope::formats {

std::vector<std::byte> random_rows(GgmlType type, std::int64_t rows, std::int64_t inputs,
                                   Rng& rng) {
  const std::int64_t blocks = rows * inputs / block_elements(type);
  const int size = block_bytes(type);
  std::vector<std::byte> bytes(static_cast<std::size_t>(blocks * size));
  for (std::byte& b : bytes) b = static_cast<std::byte>(rng.next() & 255);
  // Without the exponent's highest bit a number is below 2, and neither infinite nor NaN.
  for (std::int64_t b = 0; b < blocks; ++b) {
    for (const int at : find_type(type)->exponents)
      if (at >= 0)
        bytes[static_cast<std::size_t>(b * size + at)] &= ~std::byte{find_type(type)->highest};
  }
  return bytes;
}

std::vector<float> dequantised(GgmlType type, const std::vector<std::byte>& rows) {
  std::vector<float> values(rows.size() / static_cast<std::size_t>(block_bytes(type)) *
                            static_cast<std::size_t>(block_elements(type)));
  dequantise(type, rows, values);
  return values;
}

}  // namespace triescope::formats
