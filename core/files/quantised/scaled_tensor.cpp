#include "core/files/quantised/scaled_tensor.h"

#include <algorithm>

#include "core/files/shape_text.h"

namespace triescope::formats {
namespace {

class ScaledTensor final : public QuantisedTensor {
 public:
  ScaledTensor(const SafeTensors& from, const ScaledParts& of) : of_(of) {
    const SafeTensor& weight = *of.weight;
    if (weight.shape.size() != 2 || weight.elements == 0 ||
        (weight.dtype != "I8" && !weight.dtype.starts_with("F8")))
      refuse_part(from, weight, "8-bit numbers in two dimensions of 1 or more");
    rows = weight.shape[0];
    cols = weight.shape[1];
    parts = {of.weight, of.scale};
    if (of.zero != nullptr) parts.push_back(of.zero);
    lay_out_scales(from);
  }

 protected:
  void read_rows(std::int64_t first, std::span<float> out) const override {
    const std::vector<float> scales = values_of(*file, *of_.scale);
    std::vector<std::int8_t> zeros;
    if (of_.zero != nullptr)
      zeros = stored_of<std::int8_t>(*file, *of_.zero, 0, of_.zero->elements);
    read_codes(first, out);
    const std::int64_t count = static_cast<std::int64_t>(out.size()) / cols;
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t row_of_grid = (first + r) / of_.block[0] * grid_cols_;
      for (std::int64_t c = 0; c < cols; ++c) {
        float& value = out[static_cast<std::size_t>(r * cols + c)];
        const auto at = static_cast<std::size_t>(row_of_grid + c / of_.block[1]);
        if (!zeros.empty()) value -= static_cast<float>(zeros[at]);
        value = rounded(of_.rounding, value * scales[at]) * of_.factor;
      }
    }
  }

 private:
  void lay_out_scales(const SafeTensors& from) {
    const std::vector<std::int64_t>& grid = of_.scale->shape;
    const std::int64_t grid_rows = grid.empty() ? 1 : grid[0];
    grid_cols_ = grid.size() < 2 ? 1 : grid[1];
    if (of_.block[0] == 0 || of_.scale->elements == 1) {
      if (grid.size() > 2 || grid_rows < 1 || grid_cols_ < 1 || rows % grid_rows != 0 ||
          cols % grid_cols_ != 0)
        refuse_part(from, *of_.scale, "scales that divide a weight of " + shape_text({rows, cols}));
      of_.block = {std::max<std::int64_t>(rows / grid_rows, 1),
                   std::max<std::int64_t>(cols / grid_cols_, 1)};
    }
    const std::vector<std::int64_t> expected = {(rows + of_.block[0] - 1) / of_.block[0],
                                                (cols + of_.block[1] - 1) / of_.block[1]};
    if (grid_rows != expected[0] || grid_cols_ != expected[1])
      refuse_part(from, *of_.scale, "scales of shape " + shape_text(expected));
    if (of_.zero != nullptr &&
        (of_.zero->elements != of_.scale->elements || of_.zero->dtype != "I8"))
      refuse_part(from, *of_.zero, "I8 of shape " + shape_text(of_.scale->shape));
  }

  void read_codes(std::int64_t first, std::span<float> out) const {
    if (of_.weight->dtype != "I8") return file->read(*of_.weight, first * cols, out);
    const std::vector<std::int8_t> codes = stored_of<std::int8_t>(
        *file, *of_.weight, first * cols, static_cast<std::int64_t>(out.size()));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(codes[i]);
  }

  ScaledParts of_;
  std::int64_t grid_cols_ = 1;
};

}  // namespace

std::unique_ptr<QuantisedTensor> scaled_tensor(const SafeTensors& file, const ScaledParts& parts) {
  return std::make_unique<ScaledTensor>(file, parts);
}

}  // namespace triescope::formats
