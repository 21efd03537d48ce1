#include "core/files/quantised/quantised_tensors.h"

#include "core/base/error.h"
#include "core/files/quantised/packed_tensor.h"
#include "core/files/quantised/scaled_tensor.h"
#include "core/files/quantised/table_tensor.h"

namespace triescope::formats {
namespace {

const char* title_of(QuantMethod method) {
  switch (method) {
    case QuantMethod::kFp8:
      return "fp8";
    case QuantMethod::kGptq:
      return "gptq";
    case QuantMethod::kAwq:
      return "awq";
    case QuantMethod::kBitsAndBytes:
      return "bitsandbytes";
    case QuantMethod::kCompressedTensors:
      return "compressed-tensors";
  }
  return "";
}

// Some layers may have a scale a block and others one a row.
bool has_scale_a_block(const SafeTensor& weight, const SafeTensor& scale,
                       const std::array<std::int64_t, 2>& block) {
  if (block[0] == 0 || weight.shape.size() != 2 || scale.shape.size() != 2) return false;
  for (std::size_t i = 0; i < 2; ++i)
    if (scale.shape[i] != (weight.shape[i] + block[i] - 1) / block[i]) return false;
  return true;
}

// The bits of a code, of which the zero points tell: some weights may have others than the rest.
int gptq_bits(const SafeTensors& file, const SafeTensor& codes, const SafeTensor& zeros,
              int usual) {
  constexpr std::int64_t kMostRows = 1 << 30;
  if (codes.shape.size() != 2 || codes.elements == 0 || codes.shape[1] > kMostRows)
    refuse_part(file, codes, "codes in two dimensions, of 1 to 2^30 rows of a weight");
  if (zeros.shape.size() == 2)
    for (const int bits : {usual, 2, 4, 8})
      if (zeros.shape[1] == (codes.shape[1] * bits + 31) / 32) return bits;
  refuse_part(file, zeros, "zero points of 2, 4 or 8 bits, one a row of its weight");
}

bool is_8_bit(const SafeTensor& tensor) {
  return tensor.dtype == "I8" || tensor.dtype.starts_with("F8");
}

// Multiplied with a code of LLM.int8() and its row's largest magnitude: 1 / 127 as bitsandbytes has
// it.
constexpr float kInt8Factor = 7.874015718698502e-3f;

}  // namespace

QuantisedTensors::QuantisedTensors(std::shared_ptr<const SafeTensors> file, const Quantisation& how)
    : file_(std::move(file)) {
  for (const SafeTensor& tensor : file_->tensors()) find_parts(tensor, how);
  if (tensors_.empty() && !file_->tensors().empty())
    throw Error(ErrorCode::kCorruption,
                file_->path_of(file_->tensors()[0]) +
                    ": expected quantised weights by config.json (quantization_config, " +
                    title_of(how.method) +
                    "), found none; take quantization_config out of it if they are plain");
}

const SafeTensor* QuantisedTensors::beside(const std::string& name, const char* ending) const {
  return file_->find(name + ending);
}

const SafeTensor& QuantisedTensors::needed(const std::string& name, const char* ending) const {
  if (const SafeTensor* found = beside(name, ending)) return *found;
  throw Error(ErrorCode::kCorruption, file_->path_of(file_->tensors()[0]) + ": expected tensor '" +
                                          name + ending + "' beside the other parts of '" + name +
                                          "', found none");
}

void QuantisedTensors::add(const std::string& name, std::string dtype,
                           std::unique_ptr<QuantisedTensor> tensor) {
  tensor->name = name;
  if (!dtype.empty()) tensor->dtype = std::move(dtype);
  tensor->file = file_;
  for (const SafeTensor* part : tensor->parts) parts_.insert(part->name);
  tensors_.push_back(std::move(tensor));
  by_name_.emplace(tensors_.back()->name, tensors_.back().get());
}

void QuantisedTensors::add_scaled(const SafeTensor& weight, const std::string& name,
                                  const SafeTensor& scale, const Quantisation& how) {
  ScaledParts parts{&weight, &scale};
  switch (how.method) {
    case QuantMethod::kFp8:
      parts.block = how.block;
      break;
    case QuantMethod::kBitsAndBytes:
      parts.factor = kInt8Factor;
      break;
    default:
      if (has_scale_a_block(weight, scale, how.block)) parts.block = how.block;
      parts.zero = beside(name, "_zero_point");
      parts.rounding = rounding_of(scale.dtype);
  }
  add(name, weight.dtype == "I8" ? "INT8" : "FP8", scaled_tensor(*file_, parts));
}

// Adds the weight that the tensor is the codes of, if it is.
void QuantisedTensors::find_parts(const SafeTensor& tensor, const Quantisation& how) {
  const auto stem = [&](std::string_view ending) -> std::string {
    if (!std::string_view(tensor.name).ends_with(ending)) return "";
    return tensor.name.substr(0, tensor.name.size() - ending.size());
  };
  const std::string weight = stem(".weight").empty() ? "" : tensor.name;
  // A weight whose scales are missing would otherwise be read as a plain one.
  const bool is_codes = is_8_bit(tensor) && (!weight.empty() || tensor.shape.size() > 2);
  switch (how.method) {
    case QuantMethod::kFp8:
      if (is_codes) add_scaled(tensor, tensor.name, needed(tensor.name, "_scale_inv"), how);
      return;
    case QuantMethod::kGptq:
    case QuantMethod::kAwq: {
      const std::string linear = stem(".qweight");
      if (linear.empty()) return;
      const SafeTensor& zeros = needed(linear, ".qzeros");
      const PackedParts parts{&tensor, &needed(linear, ".scales"), &zeros,
                              beside(linear, ".g_idx")};
      if (how.method == QuantMethod::kAwq)
        return add(linear + ".weight", "AWQ 4-bit", awq_tensor(*file_, parts));
      const int bits = gptq_bits(*file_, tensor, zeros, how.bits);
      return add(linear + ".weight", "GPTQ " + std::to_string(bits) + "-bit",
                 gptq_tensor(*file_, parts, bits, how.zeros_less_one));
    }
    case QuantMethod::kBitsAndBytes: {
      if (weight.empty()) return;
      if (tensor.dtype == "I8" || beside(stem(".weight"), ".SCB") != nullptr)
        return add_scaled(tensor, weight, needed(stem(".weight"), ".SCB"), how);
      const SafeTensor* state = beside(weight, ".quant_state.bitsandbytes__fp4");
      const char* const nf4 = ".quant_state.bitsandbytes__nf4";
      if (state == nullptr)
        state = tensor.dtype == "U8" ? &needed(weight, nf4) : beside(weight, nf4);
      if (state == nullptr) return;
      return add(
          weight, "",
          table_tensor(*file_, {&tensor, &needed(weight, ".absmax"), &needed(weight, ".quant_map"),
                                beside(weight, ".nested_absmax"),
                                beside(weight, ".nested_quant_map"), state}));
    }
    case QuantMethod::kCompressedTensors: {
      if (is_codes) return add_scaled(tensor, tensor.name, needed(tensor.name, "_scale"), how);
      const std::string packed = stem("_packed");
      if (packed.empty()) return;
      const SafeTensor& shape = needed(packed, "_shape");
      if (shape.dtype != "I64" || shape.elements != 2) refuse_part(*file_, shape, "I64, 2 values");
      const std::vector<std::int64_t> extents = stored_of<std::int64_t>(*file_, shape, 0, 2);
      for (const std::int64_t extent : extents)
        if (extent < 1 || extent > 1 << 30)
          throw Error(ErrorCode::kCorruption, file_->path_of(shape) + ": tensor '" + shape.name +
                                                  "': expected extents from 1 to 2^30, found " +
                                                  std::to_string(extent));
      parts_.insert(shape.name);
      const PackedParts parts{&tensor, &needed(packed, "_scale"), beside(packed, "_zero_point"),
                              beside(packed, "_g_idx")};
      return add(packed, "packed integers",
                 pack_quantised_tensor(*file_, parts, extents[0], extents[1]));
    }
  }
}

const QuantisedTensor* QuantisedTensors::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

bool QuantisedTensors::has_part(std::string_view stored) const {
  return parts_.contains(stored) || stored.ends_with(".activation_scale") ||
         stored.ends_with(".input_scale") || stored.ends_with(".weight_format");
}

}  // namespace triescope::formats
