#include <cstring>

#include "core/base/error.h"
#include "core/files/draft_head/head_file.h"
#include "core/files/half.h"

namespace triescope::formats {
namespace {

template <typename T, typename Convert>
auto converted(std::span<const std::byte> bytes, Convert convert) {
  std::vector<decltype(convert(T{}))> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = convert(value);
  }
  return values;
}

}  // namespace

std::int64_t HeadTensor::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::vector<float> HeadTensor::floats() const {
  switch (type) {
    case ElementType::kF32:
      return converted<float>(bytes, [](float value) { return value; });
    case ElementType::kF16:
      return converted<std::uint16_t>(bytes, f16_to_float);
    case ElementType::kBf16:
      return converted<std::uint16_t>(bytes, bf16_to_float);
    default:
      throw Error(ErrorCode::kNotSupported, name + ": expected floating point, found integers");
  }
}

std::vector<std::int64_t> HeadTensor::integers() const {
  if (type == ElementType::kI64)
    return converted<std::int64_t>(bytes, [](std::int64_t value) { return value; });
  if (type == ElementType::kBool)
    return converted<std::uint8_t>(bytes,
                                   [](std::uint8_t value) -> std::int64_t { return value != 0; });
  throw Error(ErrorCode::kNotSupported, name + ": expected integers, found floating point");
}

}  // namespace triescope::formats
