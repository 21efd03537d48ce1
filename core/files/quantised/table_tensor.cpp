#include "core/files/quantised/table_tensor.h"

#include "core/files/family.h"
#include "core/files/json.h"

namespace triescope::formats {
namespace {

constexpr std::int64_t kMaxStateBytes = 1 << 16;

class TableTensor final : public QuantisedTensor {
 public:
  TableTensor(const SafeTensors& from, const TableParts& of) : of_(of) {
    for (const SafeTensor* part :
         {of.codes, of.magnitudes, of.table, of.magnitude_scales, of.magnitude_table, of.state})
      if (part != nullptr) parts.push_back(part);
    read_state(from);
    check_parts(from);
  }

 protected:
  void read_rows(std::int64_t first, std::span<float> out) const override {
    const std::vector<float> table = values_of(*file, *of_.table), magnitudes = all_magnitudes();
    const std::int64_t begin = first * cols, count = static_cast<std::int64_t>(out.size());
    const std::int64_t first_byte = begin / 2;
    const std::vector<std::uint8_t> codes = stored_of<std::uint8_t>(
        *file, *of_.codes, first_byte, (begin + count + 1) / 2 - first_byte);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = begin + i;
      const std::uint8_t both = codes[static_cast<std::size_t>(at / 2 - first_byte)];
      const unsigned code = at % 2 == 0 ? both >> 4 : both & 15u;
      out[static_cast<std::size_t>(i)] =
          rounded(rounding_, table[code] * magnitudes[static_cast<std::size_t>(at / block_)]);
    }
  }

 private:
  void read_state(const SafeTensors& from) {
    const std::string where = from.path_of(*of_.state) + ": " + of_.state->name;
    if (of_.state->dtype != "U8" || of_.state->elements > kMaxStateBytes)
      refuse_part(from, *of_.state, "the text of a JSON object as U8");
    const std::vector<char> text = stored_of<char>(from, *of_.state, 0, of_.state->elements);
    const nlohmann::json json = parse_json({text.data(), text.size()}, where);
    if (!json.is_object()) refuse_part(from, *of_.state, "the text of a JSON object as U8");
    const JsonFields fields(json, where);
    const std::vector<std::int64_t> dims = fields.integers("shape");
    if (dims.size() != 2 || dims[0] < 1 || dims[1] < 1 || dims[0] > 1 << 30 || dims[1] > 1 << 30)
      fields.corrupt("shape", "two numbers from 1 to 2^30");
    rows = dims[0];
    cols = dims[1];
    block_ = fields.integer("blocksize");
    if (block_ < 1) fields.corrupt("blocksize", "1 or more");
    rounding_ = rounding_of(fields.text("dtype"));
    dtype = "bitsandbytes " + fields.text("quant_type").substr(0, 40);
    if (of_.magnitude_scales == nullptr) return;
    magnitude_block_ = fields.integer("nested_blocksize");
    if (magnitude_block_ < 1) fields.corrupt("nested_blocksize", "1 or more");
    magnitude_offset_ = static_cast<float>(fields.number("nested_offset"));
  }

  void check_parts(const SafeTensors& from) const {
    const auto expect = [&](const SafeTensor* part, const char* type, std::int64_t elements) {
      if (part->dtype != type || part->elements != elements)
        refuse_part(from, *part, std::string(type) + ", " + std::to_string(elements) + " values");
    };
    const auto blocks = [](std::int64_t count, std::int64_t block) {
      return (count + block - 1) / block;
    };
    expect(of_.codes, "U8", blocks(elements(), 2));
    expect(of_.table, "F32", 16);
    const std::int64_t magnitudes = blocks(elements(), block_);
    expect(of_.magnitudes, of_.magnitude_scales == nullptr ? "F32" : "U8", magnitudes);
    if (of_.magnitude_scales == nullptr) return;
    if (of_.magnitude_table == nullptr)
      refuse_part(from, *of_.magnitude_scales, "a nested_quant_map beside it");
    expect(of_.magnitude_scales, "F32", blocks(magnitudes, magnitude_block_));
    expect(of_.magnitude_table, "F32", 256);
  }

  std::vector<float> all_magnitudes() const {
    if (of_.magnitude_scales == nullptr) return values_of(*file, *of_.magnitudes);
    const std::vector<float> table = values_of(*file, *of_.magnitude_table),
                             scales = values_of(*file, *of_.magnitude_scales);
    const std::vector<std::uint8_t> codes =
        stored_of<std::uint8_t>(*file, *of_.magnitudes, 0, of_.magnitudes->elements);
    std::vector<float> result(codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i)
      result[i] = table[codes[i]] * scales[i / static_cast<std::size_t>(magnitude_block_)] +
                  magnitude_offset_;
    return result;
  }

  TableParts of_;
  std::int64_t block_ = 1, magnitude_block_ = 1;
  float magnitude_offset_ = 0;
  Rounding rounding_ = Rounding::kNone;
};

}  // namespace

std::unique_ptr<QuantisedTensor> table_tensor(const SafeTensors& file, const TableParts& parts) {
  return std::make_unique<TableTensor>(file, parts);
}

}  // namespace triescope::formats
