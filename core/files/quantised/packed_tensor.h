// A weight of codes of 2, 4 or 8 bits packed into 32-bit words, with a scale and a zero point for
// every row and group of columns: GPTQ, AWQ, compressed-tensors' "pack-quantized".
// value = (code - zero) * scale, rounded to the scale's dtype as PyTorch does. Sources: GPTQModel
// 7.7 (nn_modules/qlinear, dequantize_weight), AutoAWQ 0.2.9 (utils/packing_utils.py),
// compressed-tensors 0.20 (compressors/pack_quantized).
#pragma once

#include "core/files/quantised/quantised_tensor.h"

namespace triescope::formats {

struct PackedParts {
  const SafeTensor* codes = nullptr;   // I32
  const SafeTensor* scales = nullptr;  // F16, BF16 or F32
  const SafeTensor* zeros = nullptr;   // I32; null: none
  const SafeTensor* groups = nullptr;  // I32, the group of every column; null: they are in order
};

// GPTQ: codes [cols / n, rows], scales [groups, rows], zeros [groups, rows / n]; n codes a word.
// `zeros_less_one`: the file's zero points are one too small.
std::unique_ptr<QuantisedTensor> gptq_tensor(const SafeTensors& file, const PackedParts& parts,
                                             int bits, bool zeros_less_one);
// AWQ "gemm", 4 bits: codes [cols, rows / 8], scales [groups, rows], zeros [groups, rows / 8]; the
// codes of a word are rows 0, 2, 4, 6, 1, 3, 5, 7 of its eight.
std::unique_ptr<QuantisedTensor> awq_tensor(const SafeTensors& file, const PackedParts& parts);
// compressed-tensors: codes [rows, cols / n], scales [rows, groups] or one, zeros [rows / n, groups];
// `rows` and `cols` are what weight_shape says.
std::unique_ptr<QuantisedTensor> pack_quantised_tensor(const SafeTensors& file,
                                                       const PackedParts& parts, std::int64_t rows,
                                                       std::int64_t cols);

}  // namespace triescope::formats
