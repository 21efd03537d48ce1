#include "core/formats/random_blocks.h"

namespace triescope::formats {

const std::vector<GgmlType>& stored_types() {
  using enum GgmlType;
  static const std::vector<GgmlType> types = {kF32,  kF16,  kBF16, kQ4_0, kQ4_1, kQ5_0, kQ5_1,
                                              kQ8_0, kQ2_K, kQ3_K, kQ4_K, kQ5_K, kQ6_K, kIQ4_NL};
  return types;
}

std::vector<std::byte> random_rows(GgmlType type, std::int64_t rows, std::int64_t inputs,
                                   Rng& rng) {
  using enum GgmlType;
  const std::int64_t blocks = rows * inputs / block_elements(type);
  const int size = block_bytes(type);
  std::vector<std::byte> bytes(static_cast<std::size_t>(blocks * size));
  for (std::byte& b : bytes) b = static_cast<std::byte>(rng.next() & 255);
  // Where fp16 (bf16, fp32) numbers lie: their exponents must not say infinity or NaN.
  std::vector<int> tops;  // byte with the sign and the upper bits of the exponent
  switch (type) {
    case kF32:
      tops = {3};
      break;
    case kQ4_1:
    case kQ5_1:
    case kQ4_K:
    case kQ5_K:
      tops = {1, 3};
      break;
    case kQ2_K:
      tops = {81, 83};
      break;
    case kQ3_K:
      tops = {109};
      break;
    case kQ6_K:
      tops = {209};
      break;
    default:
      tops = {1};
  }
  // Without the exponent's highest bit a number is below 2, subnormal ones included.
  for (std::int64_t b = 0; b < blocks; ++b) {
    for (const int top : tops) bytes[static_cast<std::size_t>(b * size + top)] &= std::byte{0xbf};
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
