#include "core/files/quantised/packed_tensor.h"

#include <array>

#include "core/base/error.h"
#include "core/files/shape_text.h"

namespace triescope::formats {
namespace {

using Words = std::vector<std::uint32_t>;

// What common code needs of each format.
class PackedTensor : public QuantisedTensor {
 public:
  PackedTensor(const SafeTensors& from, const PackedParts& of, int bits)
      : of_(of), bits_(bits), per_word_(32 / bits) {
    for (const SafeTensor* part : {of.codes, of.scales, of.zeros, of.groups})
      if (part != nullptr) parts.push_back(part);
    for (const SafeTensor* part : {of.codes, of.zeros, of.groups})
      if (part != nullptr && part->dtype != "I32") refuse_part(from, *part, "I32");
    if (of.scales->dtype != "F16" && of.scales->dtype != "BF16" && of.scales->dtype != "F32")
      refuse_part(from, *of.scales, "F16, BF16 or F32");
    // The header may claim any extent beside one of 0.
    if (of.codes->shape.size() != 2 || of.codes->elements == 0)
      refuse_part(from, *of.codes, "two dimensions of 1 or more");
  }

 protected:
  void expect(const SafeTensors& from, const SafeTensor* part,
              const std::vector<std::int64_t>& shape) const {
    if (part != nullptr && part->shape != shape)
      refuse_part(from, *part, "shape " + shape_text(shape));
  }
  // `groups` groups of as many columns each, unless the file names each column's.
  void lay_out_groups(const SafeTensors& from, std::int64_t groups) {
    groups_ = groups;
    if (groups < 1 || rows < 1 || cols < 1 || (of_.groups == nullptr && cols % groups != 0))
      refuse_part(from, *of_.scales, "groups that divide " + std::to_string(cols) + " columns");
    expect(from, of_.groups, {cols});
  }

  std::uint32_t code(std::uint32_t word, std::int64_t place) const {
    return word >> (static_cast<int>(place) * bits_) & ((1u << bits_) - 1);
  }
  Words words(const SafeTensor& tensor, std::int64_t begin, std::int64_t count) const {
    return stored_of<std::uint32_t>(*file, tensor, begin, count);
  }
  Words all_words(const SafeTensor& tensor) const { return words(tensor, 0, tensor.elements); }

  // [columns]
  std::vector<std::int32_t> groups_of_columns() const {
    std::vector<std::int32_t> result(static_cast<std::size_t>(cols));
    if (of_.groups == nullptr) {
      for (std::int64_t c = 0; c < cols; ++c)
        result[static_cast<std::size_t>(c)] = static_cast<std::int32_t>(c / (cols / groups_));
      return result;
    }
    result = stored_of<std::int32_t>(*file, *of_.groups, 0, cols);
    for (const std::int32_t group : result)
      if (group < 0 || group >= groups_)
        throw Error(ErrorCode::kCorruption, file->path_of(*of_.groups) + ": tensor '" +
                                                of_.groups->name + "': expected groups from 0 to " +
                                                std::to_string(groups_ - 1) + ", found " +
                                                std::to_string(group));
    return result;
  }

  // (code - zero) * scale of a row of codes, given its groups' zeros and scales.
  void scale_row(std::span<float> row, std::span<const std::int32_t> group,
                 std::span<const float> zeros, std::span<const float> scales) const {
    const Rounding rounding = rounding_of(of_.scales->dtype);
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto g = static_cast<std::size_t>(group[c]);
      row[c] = rounded(rounding, (row[c] - zeros[g]) * scales[g]);
    }
  }

  PackedParts of_;
  int bits_;
  std::int64_t per_word_;
  std::int64_t groups_ = 1;
};

// Codes, scales and zeros that lie column by column, as inference kernels want them.
class ColumnTensor : public PackedTensor {
 public:
  using PackedTensor::PackedTensor;
  bool reads_whole() const override { return true; }

 protected:
  virtual std::uint32_t code_at(const Words& codes, std::int64_t row, std::int64_t col) const = 0;
  virtual std::uint32_t zero_at(const Words& zeros, std::int64_t row, std::int64_t group) const = 0;

  void read_rows(std::int64_t first, std::span<float> out) const override {
    const Words codes = all_words(*of_.codes), packed_zeros = all_words(*of_.zeros);
    const std::vector<float> all_scales = values_of(*file, *of_.scales);
    const std::vector<std::int32_t> group = groups_of_columns();
    std::vector<float> zeros(static_cast<std::size_t>(groups_)), scales(zeros.size());
    const std::int64_t count = static_cast<std::int64_t>(out.size()) / cols;
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t g = 0; g < groups_; ++g) {
        zeros[static_cast<std::size_t>(g)] =
            static_cast<float>(zero_at(packed_zeros, first + r, g));
        scales[static_cast<std::size_t>(g)] =
            all_scales[static_cast<std::size_t>(g * rows + first + r)];
      }
      const std::span<float> row =
          out.subspan(static_cast<std::size_t>(r * cols), static_cast<std::size_t>(cols));
      for (std::int64_t c = 0; c < cols; ++c)
        row[static_cast<std::size_t>(c)] = static_cast<float>(code_at(codes, first + r, c));
      scale_row(row, group, zeros, scales);
    }
  }
};

class GptqTensor final : public ColumnTensor {
 public:
  GptqTensor(const SafeTensors& from, const PackedParts& of, int bits, bool zeros_less_one)
      : ColumnTensor(from, of, bits), zeros_less_one_(zeros_less_one) {
    rows = of.codes->shape[1];
    cols = of.codes->shape[0] * per_word_;
    const std::int64_t groups = of.scales->shape.empty() ? 0 : of.scales->shape[0];
    lay_out_groups(from, groups);
    expect(from, of.scales, {groups, rows});
    expect(from, of.zeros, {groups, (rows + per_word_ - 1) / per_word_});
  }

 private:
  std::uint32_t code_at(const Words& codes, std::int64_t row, std::int64_t col) const override {
    return code(codes[static_cast<std::size_t>(col / per_word_ * rows + row)], col % per_word_);
  }
  std::uint32_t zero_at(const Words& zeros, std::int64_t row, std::int64_t group) const override {
    const std::int64_t words_a_row = (rows + per_word_ - 1) / per_word_;
    std::uint32_t word = zeros[static_cast<std::size_t>(group * words_a_row + row / per_word_)];
    // GPTQModel adds one to all zeros of a word at once, so a zero of all ones carries.
    if (zeros_less_one_) word += 0xffffffffu / ((1u << bits_) - 1);
    return code(word, row % per_word_);
  }

  bool zeros_less_one_;
};

class AwqTensor final : public ColumnTensor {
 public:
  AwqTensor(const SafeTensors& from, const PackedParts& of) : ColumnTensor(from, of, 4) {
    rows = of.codes->shape[1] * per_word_;
    cols = of.codes->shape[0];
    const std::int64_t groups = of.scales->shape.empty() ? 0 : of.scales->shape[0];
    lay_out_groups(from, groups);
    expect(from, of.scales, {groups, rows});
    expect(from, of.zeros, {groups, rows / per_word_});
  }

 private:
  // Where row r of eight lies in their word.
  static constexpr std::array<int, 8> kPlaces = {0, 4, 1, 5, 2, 6, 3, 7};

  std::uint32_t at(const Words& all, std::int64_t line, std::int64_t row) const {
    const std::uint32_t word = all[static_cast<std::size_t>((line * rows + row) / per_word_)];
    return code(word, kPlaces[static_cast<std::size_t>(row % per_word_)]);
  }
  std::uint32_t code_at(const Words& codes, std::int64_t row, std::int64_t col) const override {
    return at(codes, col, row);
  }
  std::uint32_t zero_at(const Words& zeros, std::int64_t row, std::int64_t group) const override {
    return at(zeros, group, row);
  }
};

int bits_of_words(const SafeTensors& from, const PackedParts& of, std::int64_t cols) {
  for (const int bits : {2, 4, 8})
    if (of.codes->shape.size() == 2 && of.codes->shape[1] == (cols * bits + 31) / 32) return bits;
  refuse_part(from, *of.codes, "codes of 2, 4 or 8 bits for " + std::to_string(cols) + " columns");
}

class PackQuantisedTensor final : public PackedTensor {
 public:
  PackQuantisedTensor(const SafeTensors& from, const PackedParts& of, std::int64_t rows_of,
                      std::int64_t cols_of)
      : PackedTensor(from, of, bits_of_words(from, of, cols_of)) {
    rows = rows_of;
    cols = cols_of;
    words_a_row_ = of.codes->shape[1];
    expect(from, of.codes, {rows, words_a_row_});
    one_scale_ = of.scales->elements == 1;
    const std::int64_t groups =
        of.scales->shape.size() == 2 && !one_scale_ ? of.scales->shape[1] : 1;
    lay_out_groups(from, groups);
    if (!one_scale_ && of.scales->elements != rows * groups)
      refuse_part(from, *of.scales, "shape " + shape_text({rows, groups}));
    expect(from, of.zeros, {(rows + per_word_ - 1) / per_word_, groups});
  }

 protected:
  void read_rows(std::int64_t first, std::span<float> out) const override {
    const std::int64_t count = static_cast<std::int64_t>(out.size()) / cols;
    const Words codes = words(*of_.codes, first * words_a_row_, count * words_a_row_);
    Words packed_zeros;
    if (of_.zeros != nullptr) packed_zeros = all_words(*of_.zeros);
    const std::vector<float> all_scales = values_of(*file, *of_.scales);
    const std::vector<std::int32_t> group = groups_of_columns();
    // Without zero points the codes are signed numbers with this much added.
    std::vector<float> zeros(static_cast<std::size_t>(groups_),
                             static_cast<float>(1 << (bits_ - 1)));
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t g = 0; g < groups_ && of_.zeros != nullptr; ++g)
        zeros[static_cast<std::size_t>(g)] = static_cast<float>(
            code(packed_zeros[static_cast<std::size_t>((first + r) / per_word_ * groups_ + g)],
                 (first + r) % per_word_));
      const std::span<const float> scales =
          one_scale_ ? std::span(all_scales)
                     : std::span(all_scales)
                           .subspan(static_cast<std::size_t>((first + r) * groups_),
                                    static_cast<std::size_t>(groups_));
      const std::span<float> row =
          out.subspan(static_cast<std::size_t>(r * cols), static_cast<std::size_t>(cols));
      for (std::int64_t c = 0; c < cols; ++c)
        row[static_cast<std::size_t>(c)] = static_cast<float>(
            code(codes[static_cast<std::size_t>(r * words_a_row_ + c / per_word_)], c % per_word_));
      scale_row(row, group, zeros, scales);
    }
  }

 private:
  std::int64_t words_a_row_ = 0;
  bool one_scale_ = false;
};

}  // namespace

std::unique_ptr<QuantisedTensor> gptq_tensor(const SafeTensors& file, const PackedParts& parts,
                                             int bits, bool zeros_less_one) {
  return std::make_unique<GptqTensor>(file, parts, bits, zeros_less_one);
}

std::unique_ptr<QuantisedTensor> awq_tensor(const SafeTensors& file, const PackedParts& parts) {
  return std::make_unique<AwqTensor>(file, parts);
}

std::unique_ptr<QuantisedTensor> pack_quantised_tensor(const SafeTensors& file,
                                                       const PackedParts& parts, std::int64_t rows,
                                                       std::int64_t cols) {
  return std::make_unique<PackQuantisedTensor>(file, parts, rows, cols);
}

}  // namespace triescope::formats
