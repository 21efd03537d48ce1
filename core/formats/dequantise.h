// ggml's block-quantised tensor types, and their values as fp32: bit-equal to the Python package
// `gguf` (quants.py). Pure functions. A block is block_elements(type) consecutive values of a row,
// block_bytes(type) long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace triescope::formats {

// ggml tensor types, by their numbers in the file.
enum class GgmlType : std::uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kIQ4_NL = 20,
  kF64 = 28,
  kBF16 = 30,
};
std::string to_string(GgmlType type);  // "Q4_1"; "type 99" for an unknown number
bool is_known(GgmlType type);

int block_elements(GgmlType type);  // 1, 32 or 256
int block_bytes(GgmlType type);

// blocks: whole blocks; out: [blocks.size() / block_bytes * block_elements]. Host byte order =
// little endian.
void dequantise(GgmlType type, std::span<const std::byte> blocks, std::span<float> out);

}  // namespace triescope::formats
