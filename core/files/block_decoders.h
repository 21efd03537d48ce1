// Functions that decode one block, by type; each is a row of the table in dequantise.cpp. Internal
// to dequantise*.cpp. Source: ggml's block layouts as in the Python package gguf 0.19.0, quants.py,
// whose order of operations they keep.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/files/half.h"

namespace triescope::formats {

using Byte = unsigned char;

inline float half_at(const Byte* at) {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return f16_to_float(bits);
}

inline float as_float(int value) { return static_cast<float>(value); }

// Types with codebooks (dequantise_iq.cpp): 256 values.
void iq1_s(const Byte* block, float* out);
void iq1_m(const Byte* block, float* out);
void iq2_xxs(const Byte* block, float* out);
void iq2_xs(const Byte* block, float* out);
void iq2_s(const Byte* block, float* out);
void iq3_xxs(const Byte* block, float* out);
void iq3_s(const Byte* block, float* out);

// Types of four-bit codes that a table decodes, and ternary types (dequantise_small.cpp).
void iq4_nl(const Byte* block, float* out);  // 32 values
void iq4_xs(const Byte* block, float* out);  // 256
void mxfp4(const Byte* block, float* out);   // 32
void nvfp4(const Byte* block, float* out);   // 64
void tq1_0(const Byte* block, float* out);   // 256
void tq2_0(const Byte* block, float* out);   // 256

}  // namespace triescope::formats
