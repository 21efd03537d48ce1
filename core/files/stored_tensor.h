// One tensor of a WeightSource, in any kind of file. Internal to weights*.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/files/gguf.h"
#include "core/files/weights.h"

namespace triescope::formats {

struct WeightSource::Tensor {
  const GgufTensor* gguf = nullptr;
  const SafeTensor* safe = nullptr;
  explicit operator bool() const { return gguf != nullptr || safe != nullptr; }
  const std::vector<std::int64_t>& shape() const { return gguf ? gguf->shape : safe->shape; }
  const std::string& name() const { return gguf ? gguf->name : safe->name; }
  std::int64_t elements() const { return gguf ? gguf->elements : safe->elements; }
  std::string dtype() const { return gguf ? to_string(gguf->type) : safe->dtype; }
};

// Error{kNotSupported}: rows of so many values are not whole MXFP4 blocks.
void check_whole_blocks(const std::string& path, const std::string& tensor, std::int64_t cols);
// Error{kCorruption}: a tensor of blocks or their scales has another dtype.
void check_is_u8(const std::string& path, const SafeTensor& tensor);

}  // namespace triescope::formats
