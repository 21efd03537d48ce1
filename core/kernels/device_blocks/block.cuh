// Shared by the block types of GGUF files on CUDA. Threads read a block in parts of eight values.
// Part p of a block holds the values first(p) .. first(p) + 3 and first(p) + kHop .. + 3, because
// most types keep the codes of both in one word. Neighbouring threads read neighbouring words of
// the block and of x.
//
// A type has
//   kValues, kBytes, kAlign    of a block: values, bytes, and what its address is a multiple of
//   kParts, kHop, first(part)  as above
//   decode(block, part, w)     the eight values, by the operations of formats::dequantise in their
//                              order, each rounded: the same bits
#pragma once

#include "core/kernels/launch.cuh"

namespace triescope::kernels::cuda {
namespace {

template <int bytes, int align>
struct BlockOf32 {
  static constexpr int kValues = 32, kBytes = bytes, kAlign = align, kParts = 4, kHop = 16;
  static __device__ int first(int part) { return 4 * part; }
};

// The values form four pairs of 32. Part p is the four values from 4 * quad(p) on in both halves of
// pair(p).
template <int bytes, int align>
struct BlockOf256 {
  static constexpr int kValues = 256, kBytes = bytes, kAlign = align, kParts = 32, kHop = 32;
  static __device__ int pair(int part) { return part / 8; }
  static __device__ int quad(int part) { return part % 8; }
  static __device__ int first(int part) { return pair(part) * 64 + quad(part) * 4; }
};

// Four bytes at an address that is a multiple of `align`; the first is the lowest.
template <int align>
__device__ inline unsigned word_at(const unsigned char* at) {
  if constexpr (align >= 4) {
    unsigned word;
    memcpy(&word, __builtin_assume_aligned(at, 4), sizeof word);
    return word;
  } else {
    unsigned short halves[2];
    memcpy(halves, __builtin_assume_aligned(at, 2), sizeof halves);
    return halves[0] | static_cast<unsigned>(halves[1]) << 16;
  }
}

// An fp16 number at an even address.
__device__ inline float half_at(const unsigned char* at) {
  __half value;
  memcpy(&value, __builtin_assume_aligned(at, 2), sizeof value);
  return __half2float(value);
}

// The `bits` bits from `shift` on in byte i of a word.
template <int bits>
__device__ inline int code_of(unsigned word, int i, int shift) {
  return static_cast<int>(word >> (8 * i + shift)) & ((1 << bits) - 1);
}

__device__ inline float number(int value) { return static_cast<float>(value); }

}  // namespace
}  // namespace triescope::kernels::cuda
