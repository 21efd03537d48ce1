// ggml's block-quantised tensor types, and their values as fp32, bit-equal to the Python package
// `gguf` (quants.py). Pure functions. A block is block_elements(type) consecutive values of a row
// and has block_bytes(type) bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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
  kIQ2_XXS = 16,
  kIQ2_XS = 17,
  kIQ3_XXS = 18,
  kIQ1_S = 19,
  kIQ4_NL = 20,
  kIQ3_S = 21,
  kIQ2_S = 22,
  kIQ4_XS = 23,
  kF64 = 28,
  kIQ1_M = 29,
  kBF16 = 30,
  kTQ1_0 = 34,
  kTQ2_0 = 35,
  kMXFP4 = 39,
  kNVFP4 = 40,
};

// Everything about a type, described once: a new type is a row of the table in dequantise.cpp and
// the function that decodes its blocks.
struct TypeInfo {
  GgmlType type;
  const char* name;
  int elements;  // 1, 32, 64 or 256: values in a block
  int bytes;     // of a block
  void (*dequantise)(const unsigned char* blocks, std::size_t count, float* out);
  // Bytes of a block that hold the upper bits of an exponent (-1 = none), and the highest of these
  // bits (an fp16 has its sign above it). Random blocks clear that bit, so that every value is
  // small.
  std::array<int, 2> exponents;
  unsigned char highest = 0x40;
};
std::span<const TypeInfo> ggml_types();            // all types that can be read
const TypeInfo* find_type(GgmlType type);          // nullptr: unknown
const TypeInfo* find_type(std::string_view name);  // nullptr: unknown

std::string to_string(GgmlType type);  // "Q4_1"; "type 99" for an unknown number
int block_elements(GgmlType type);     // Error{kNotSupported}: an unknown type
int block_bytes(GgmlType type);

// blocks: whole blocks; out: [blocks.size() / block_bytes * block_elements]. Host byte order =
// little endian.
void dequantise(GgmlType type, std::span<const std::byte> blocks, std::span<float> out);

}  // namespace triescope::formats
