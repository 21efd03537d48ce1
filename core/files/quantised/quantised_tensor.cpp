#include "core/files/quantised/quantised_tensor.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/files/half.h"
#include "core/files/shape_text.h"

namespace triescope::formats {

std::int64_t QuantisedTensor::bytes() const {
  std::int64_t sum = 0;
  for (const SafeTensor* part : parts) sum += part->bytes;
  return sum;
}

void QuantisedTensor::read(std::int64_t begin, std::span<float> out) const {
  const auto count = static_cast<std::int64_t>(out.size());
  if (begin < 0 || begin > elements() || count > elements() - begin)
    throw Error(ErrorCode::kInvalidArgument,
                "tensor '" + name + "': read past its " + std::to_string(elements()) + " values");
  if (count == 0) return;
  const std::int64_t first = begin / cols, last = (begin + count - 1) / cols;
  if (begin == first * cols && count == (last - first + 1) * cols) return read_rows(first, out);
  std::vector<float> covering(static_cast<std::size_t>((last - first + 1) * cols));
  read_rows(first, covering);
  std::copy_n(covering.begin() + (begin - first * cols), count, out.begin());
}

std::vector<float> values_of(const SafeTensors& file, const SafeTensor& tensor) {
  std::vector<float> out(static_cast<std::size_t>(tensor.elements));
  file.read(tensor, 0, out);
  return out;
}

Rounding rounding_of(const std::string& dtype) {
  if (dtype == "F16" || dtype == "float16") return Rounding::kF16;
  return dtype == "BF16" || dtype == "bfloat16" ? Rounding::kBf16 : Rounding::kNone;
}

float rounded(Rounding to, float value) {
  if (to == Rounding::kF16) return f16_to_float(float_to_f16(value));
  return to == Rounding::kBf16 ? bf16_to_float(float_to_bf16(value)) : value;
}

void refuse_part(const SafeTensors& file, const SafeTensor& tensor, const std::string& expected) {
  throw Error(ErrorCode::kCorruption, file.path_of(tensor) + ": tensor '" + tensor.name +
                                          "': expected " + expected + ", found " + tensor.dtype +
                                          " of shape " + shape_text(tensor.shape));
}

}  // namespace triescope::formats
