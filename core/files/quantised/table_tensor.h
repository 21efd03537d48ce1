// bitsandbytes' 4-bit weights (nf4, fp4): two codes a byte, the first in the upper half, looked up in
// a table of 16 numbers and multiplied with their block's largest magnitude. With "double
// quantisation" those magnitudes are codes of 8 bits themselves.
// Source: bitsandbytes 0.50 (functional.py, QuantState.from_dict, dequantize_4bit).
#pragma once

#include "core/files/quantised/quantised_tensor.h"

namespace triescope::formats {

struct TableParts {
  const SafeTensor* codes = nullptr;             // U8, half as many as values
  const SafeTensor* magnitudes = nullptr;        // "absmax": F32, or U8 codes; one a block
  const SafeTensor* table = nullptr;             // "quant_map": F32 [16]
  const SafeTensor* magnitude_scales = nullptr;  // "nested_absmax": F32; null: no codes
  const SafeTensor* magnitude_table = nullptr;   // "nested_quant_map": F32 [256]
  const SafeTensor* state = nullptr;             // "quant_state.bitsandbytes__*": JSON
};

// Error{kCorruption} where the parts do not fit together or the state is not what bitsandbytes
// writes.
std::unique_ptr<QuantisedTensor> table_tensor(const SafeTensors& file, const TableParts& parts);

}  // namespace triescope::formats
