// A weight of 8-bit numbers, a block of which shares a scale: FP8 of transformers, FP8 and INT8 of
// compressed-tensors, LLM.int8() of bitsandbytes.
#pragma once

#include <array>

#include "core/files/quantised/quantised_tensor.h"

namespace triescope::formats {

struct ScaledParts {
  const SafeTensor* weight = nullptr;  // F8_E4M3, F8_E5M2 or I8, [rows, cols]
  const SafeTensor* scale = nullptr;   // one; one a row; or [row blocks, column blocks]
  const SafeTensor* zero = nullptr;    // I8, shape of `scale`, taken off the codes; null: none
  // Rows and columns of a block; 0, 0: as many as make the scales' shape fit.
  std::array<std::int64_t, 2> block = {0, 0};
  Rounding rounding = Rounding::kNone;  // of code times scale
  float factor = 1;                     // of every product
};

// Throws Error{kCorruption} where dtypes or shapes do not fit together.
std::unique_ptr<QuantisedTensor> scaled_tensor(const SafeTensors& file, const ScaledParts& parts);

}  // namespace triescope::formats
