// Safetensors' MXFP4: a tensor of blocks, in which byte j of a block has value 2 j in its low and value
// 2 j + 1 in its high bits, and a tensor of scales, 2^(s - 127). Source: transformers integrations/mxfp4.py,
// convert_moe_packed_tensors.
#include <vector>

#include "core/base/error.h"
#include "core/files/stored_tensor.h"

namespace triescope::formats {
namespace {

constexpr std::int64_t kBytes = 16, kValues = 32,
                       kStored = 17;  // of a block, without and with its scale

std::byte nibble_of(const std::byte* block, std::int64_t value) {
  const std::byte both = block[value / 2];
  return value % 2 == 0 ? both & std::byte{15} : both >> 4;
}

}  // namespace

void check_whole_blocks(const std::string& path, const std::string& tensor, std::int64_t cols) {
  if (cols % kValues == 0) return;
  throw Error(ErrorCode::kNotSupported, path + ": tensor '" + tensor + "': rows of " +
                                            std::to_string(cols) +
                                            " values, which are not whole MXFP4 blocks of 32");
}

void check_is_u8(const std::string& path, const SafeTensor& tensor) {
  if (tensor.dtype != "U8")
    throw Error(ErrorCode::kCorruption, path + ": tensor '" + tensor.name +
                                            "': expected U8 (MXFP4), found " + tensor.dtype);
}

void WeightSource::read_mxfp4_rows(const Part& part, std::int64_t first,
                                   std::span<std::byte> out) const {
  const WeightSlice slice = slice_of(part);
  const SafeTensor* const blocks = safetensors_->find(slice.tensor + "_blocks");
  const SafeTensor* const scales = safetensors_->find(slice.tensor + "_scales");
  const std::int64_t of_row = shape(part).value().cols / kValues;  // blocks
  const std::int64_t rows = static_cast<std::int64_t>(out.size()) / (of_row * kStored);
  std::vector<std::byte> values(static_cast<std::size_t>(of_row * kBytes)),
      exponents(static_cast<std::size_t>(of_row));
  std::byte* to = out.data();
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t row = slice.first_row + (first + r) * slice.row_step;
    safetensors_->read_stored(*blocks, row * of_row * kBytes, values);
    safetensors_->read_stored(*scales, row * of_row, exponents);
    for (std::int64_t b = 0; b < of_row; ++b, to += kStored) {
      const std::byte* const block = values.data() + b * kBytes;
      to[0] = exponents[static_cast<std::size_t>(b)];
      for (std::int64_t i = 0; i < kBytes; ++i)
        to[1 + i] = nibble_of(block, i) | nibble_of(block, i + kBytes) << 4;
    }
  }
}

// Of a tensor of blocks, or of any other; scales are no values of their own.
std::int64_t WeightSource::mxfp4_values(const SafeTensor& tensor) const {
  if (!config_.mxfp4_experts || tensor.dtype != "U8") return tensor.elements;
  return tensor.name.ends_with("_blocks") ? 2 * tensor.elements : 0;
}

}  // namespace triescope::formats
