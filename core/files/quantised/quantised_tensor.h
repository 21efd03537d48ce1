// A weight that a file holds as codes with their scales, in several tensors. It reads as the fp32
// values that the library of its format makes of it. Immutable: several threads may read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/files/safetensors.h"

namespace triescope::formats {

class QuantisedTensor {
 public:
  virtual ~QuantisedTensor() = default;

  std::string name;                      // of the weight, as in a model that is not quantised
  std::string dtype;                     // for people: "GPTQ 4-bit"
  std::int64_t rows = 0, cols = 0;       // as torch.nn.Linear stores a weight: out, in
  std::vector<const SafeTensor*> parts;  // all tensors of the file that it is made of
  std::shared_ptr<const SafeTensors> file;

  std::vector<std::int64_t> shape() const { return {rows, cols}; }
  std::int64_t elements() const { return rows * cols; }
  std::int64_t bytes() const;
  // True: its codes lie column by column, so that a row costs as much as the whole.
  virtual bool reads_whole() const { return false; }
  // Reads elements [begin, begin + out.size()), row-major. Errors: kIoError; kCorruption for a part
  // with values out of their range.
  void read(std::int64_t begin, std::span<float> out) const;

 protected:
  // Reads whole rows from `first` on.
  virtual void read_rows(std::int64_t first, std::span<float> out) const = 0;
};

// Values of the tensor that `weight`'s file holds; [begin, begin + out.size()) of them.
std::vector<float> values_of(const SafeTensors& file, const SafeTensor& tensor);
template <typename T>
std::vector<T> stored_of(const SafeTensors& file, const SafeTensor& tensor, std::int64_t begin,
                         std::int64_t count) {
  std::vector<T> out(static_cast<std::size_t>(count));
  file.read_stored(tensor, begin * static_cast<std::int64_t>(sizeof(T)),
                   std::as_writable_bytes(std::span(out)));
  return out;
}

// PyTorch multiplies numbers of 16 bits in fp32 and rounds the product to their dtype.
enum class Rounding : std::uint8_t { kNone, kF16, kBf16 };
Rounding rounding_of(const std::string& dtype);  // as safetensors or PyTorch call it
float rounded(Rounding to, float value);

// Throws Error{kCorruption}: tensor `name` of `file` was expected to be something else.
[[noreturn]] void refuse_part(const SafeTensors& file, const SafeTensor& tensor,
                              const std::string& expected);

}  // namespace triescope::formats
