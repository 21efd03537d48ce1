// One tensor of a WeightSource, in any kind of file. Internal to weights*.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/files/gguf.h"
#include "core/files/quantised/quantised_tensors.h"
#include "core/files/weights.h"

namespace triescope::formats {

struct WeightSource::Tensor {
  const GgufTensor* gguf = nullptr;
  const SafeTensor* safe = nullptr;
  const QuantisedTensor* quantised = nullptr;
  explicit operator bool() const {
    return gguf != nullptr || safe != nullptr || quantised != nullptr;
  }
  std::vector<std::int64_t> shape() const {
    return quantised ? quantised->shape() : gguf ? gguf->shape : safe->shape;
  }
  const std::string& name() const {
    return quantised ? quantised->name : gguf ? gguf->name : safe->name;
  }
  std::int64_t elements() const {
    return quantised ? quantised->elements() : gguf ? gguf->elements : safe->elements;
  }
  std::string dtype() const {
    return quantised ? quantised->dtype : gguf ? to_string(gguf->type) : safe->dtype;
  }
};

// Error{kNotSupported}: rows of so many values are not whole MXFP4 blocks.
void check_whole_blocks(const std::string& path, const std::string& tensor, std::int64_t cols);
// Error{kCorruption}: a tensor of blocks or their scales has another dtype.
void check_is_u8(const std::string& path, const SafeTensor& tensor);

}  // namespace triescope::formats
