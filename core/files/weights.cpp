#include "core/files/weights.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/error.h"
#include "core/files/stored_tensor.h"

namespace triescope::formats {
namespace {

// This many elements of ggml tensors are decoded at a time (a multiple of every block).
constexpr std::size_t kChunk = std::size_t{1} << 16;

}  // namespace

std::unique_ptr<WeightSource> WeightSource::open(const std::string& path) {
  namespace fs = std::filesystem;
  std::unique_ptr<WeightSource> source(new WeightSource);
  source->path_ = path;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw Error(
        ErrorCode::kNotFound,
        path + ": expected a .gguf file or a Hugging Face model folder, found nothing there");
  }
  if (fs::is_directory(status)) {
    source->config_ = config_from_folder(path);
    source->safetensors_ = SafeTensors::open_folder(path);
    if (const auto how =
            source->config_.mxfp4_experts ? std::nullopt : quantisation_of_folder(path))
      source->quantised_ = std::make_shared<const QuantisedTensors>(source->safetensors_, *how);
    source->find_renames();
  } else if (path.ends_with(".safetensors")) {
    throw Error(
        ErrorCode::kInvalidArgument,
        path + ": expected a folder; open the folder that holds this file and its config.json");
  } else {
    source->gguf_ = GgufFile::open(path);
    source->config_ = config_from_gguf(*source->gguf_);
  }
  if (!source->gguf_) {
    source->settle_head();
    source->settle_biases();
  }
  source->check_shapes();
  source->check_unread();
  return source;
}

WeightSource::Tensor WeightSource::find(const std::string& name) const {
  Tensor tensor;
  if (gguf_) tensor.gguf = gguf_->find(name);
  if (quantised_) tensor.quantised = quantised_->find(name);
  if (safetensors_ && !tensor.quantised) tensor.safe = safetensors_->find(name);
  return tensor;
}

WeightSlice WeightSource::slice_of(const Part& part) const {
  const bool is_head = part.role == Role::kEmbedding && embedding_is_head_;
  WeightSlice slice = locate(config_, is_head ? Part{Role::kHead} : part);
  slice.tensor = renamed(std::move(slice.tensor));
  return slice;
}

std::string WeightSource::renamed(std::string name) const {
  for (const auto& [from, to] : renames_)
    if (name.starts_with(from)) return to + name.substr(from.size());
  return name;
}

void WeightSource::read_elements(const Tensor& tensor, std::int64_t begin,
                                 std::span<float> out) const {
  if (tensor.quantised) return tensor.quantised->read(begin, out);
  if (tensor.safe) return safetensors_->read(*tensor.safe, begin, out);
  const GgmlType type = tensor.gguf->type;
  const std::int64_t per_block = block_elements(type);
  if (begin % per_block != 0 || static_cast<std::int64_t>(out.size()) % per_block != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "tensor '" + tensor.gguf->name + "': rows do not fall on blocks");
  }
  std::vector<std::byte> bytes;
  std::int64_t byte = begin / per_block * block_bytes(type);
  while (!out.empty()) {
    const std::span<float> part = out.first(std::min(out.size(), kChunk));
    bytes.resize(part.size() / static_cast<std::size_t>(per_block) *
                 static_cast<std::size_t>(block_bytes(type)));
    gguf_->read(*tensor.gguf, byte, bytes);
    dequantise(type, bytes, part);
    byte += static_cast<std::int64_t>(bytes.size());
    out = out.subspan(part.size());
  }
}

void WeightSource::read_plain_rows(const Tensor& tensor, std::int64_t cols, std::int64_t first,
                                   std::span<float> out) const {
  read_elements(tensor, first * cols, out);
}

bool WeightSource::reads_whole(const Part& part) const {
  const WeightSlice slice = slice_of(part);
  const QuantisedTensor* tensor = quantised(part);
  return slice.transposed || slice.heads > 0 || (slice.row_step > 1 && !slice.mxfp4) ||
         (tensor != nullptr && tensor->reads_whole());
}

const QuantisedTensor* WeightSource::quantised(const Part& part) const {
  return quantised_ ? quantised_->find(slice_of(part).tensor) : nullptr;
}

void WeightSource::read_rows(const Part& part, std::int64_t first, std::span<float> out) const {
  const WeightShape whole = shape(part).value();
  const WeightSlice slice = slice_of(part);
  const std::int64_t rows = static_cast<std::int64_t>(out.size()) / whole.cols;
  if (first < 0 || rows * whole.cols != static_cast<std::int64_t>(out.size()) ||
      first + rows > whole.rows) {
    throw Error(ErrorCode::kInvalidArgument, "tensor '" + slice.tensor + "': no such rows");
  }
  if (slice.tensors > 0) {
    const std::vector<std::string> names = slice.names();
    for (std::int64_t r = 0; r < rows; ++r)
      read_elements(find(names[static_cast<std::size_t>(first + r)]), 0,
                    out.subspan(static_cast<std::size_t>(r * whole.cols),
                                static_cast<std::size_t>(whole.cols)));
    return;
  }
  const Tensor tensor = find(slice.tensor);
  if (slice.transposed) {
    const std::int64_t stored = tensor.shape().back();  // [in, out], perhaps for every expert
    std::vector<float> all(static_cast<std::size_t>(whole.cols * stored));
    read_elements(tensor, std::max(slice.transposed_at, 0) * whole.cols * stored, all);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = slice.first_row + (first + r) * slice.row_step;
      for (std::int64_t c = 0; c < whole.cols; ++c) {
        out[static_cast<std::size_t>(r * whole.cols + c)] =
            all[static_cast<std::size_t>(c * stored + at)];
      }
    }
    return;
  }
  if (slice.mxfp4) {
    std::vector<std::byte> blocks(out.size() / 32 * 17);
    read_mxfp4_rows(part, first, blocks);
    return dequantise(GgmlType::kMXFP4, blocks, out);
  }
  if (slice.heads > 0 || slice.row_step > 1) {
    std::vector<float> all(static_cast<std::size_t>(rows_spanned(slice, whole.rows) * whole.cols));
    read_plain_rows(tensor, whole.cols, slice.first_row, all);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t stored = stored_row(slice, first + r, whole.rows);
      std::copy_n(all.begin() + stored * whole.cols, whole.cols, out.begin() + r * whole.cols);
    }
    return;
  }
  read_plain_rows(tensor, whole.cols, slice.first_row + first, out);
}

std::optional<GgmlType> WeightSource::stored_type(const Part& part) const {
  const WeightSlice slice = slice_of(part);
  if (slice.transposed || slice.tensors > 0) return std::nullopt;
  if (slice.mxfp4) return GgmlType::kMXFP4;
  const Tensor tensor = find(slice.tensor);
  if (tensor.quantised || tensor.dtype() == "F64") return std::nullopt;
  if (tensor.gguf) return tensor.gguf->type;
  for (const GgmlType type : {GgmlType::kF32, GgmlType::kF16, GgmlType::kBF16}) {
    if (tensor.safe->dtype == to_string(type)) return type;
  }
  return std::nullopt;
}

void WeightSource::read_stored_rows(const Part& part, std::int64_t first,
                                    std::span<std::byte> out) const {
  const WeightShape whole = shape(part).value();
  const WeightSlice slice = slice_of(part);
  const Tensor tensor = find(slice.tensor);
  const std::optional<GgmlType> type = stored_type(part);
  const std::int64_t row_bytes = type ? whole.cols / block_elements(*type) * block_bytes(*type) : 0;
  const std::int64_t rows = type ? static_cast<std::int64_t>(out.size()) / row_bytes : 0;
  if (!type || first < 0 || rows * row_bytes != static_cast<std::int64_t>(out.size()) ||
      first + rows > whole.rows)
    throw Error(ErrorCode::kInvalidArgument, "tensor '" + slice.tensor + "': no such rows");
  if (slice.mxfp4) return read_mxfp4_rows(part, first, out);
  const auto read = [&](std::int64_t row, std::span<std::byte> to) {
    const std::int64_t begin = (slice.first_row + row) * row_bytes;
    if (tensor.safe) return safetensors_->read_stored(*tensor.safe, begin, to);
    gguf_->read(*tensor.gguf, begin, to);
  };
  if (slice.heads == 0 && slice.row_step == 1) return read(first, out);
  std::vector<std::byte> all(static_cast<std::size_t>(rows_spanned(slice, whole.rows) * row_bytes));
  read(0, all);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(all.begin() + stored_row(slice, first + r, whole.rows) * row_bytes, row_bytes,
                out.begin() + r * row_bytes);
  }
}

void WeightSource::drop_rope_scaling() {
  for (RopeConfig& rope : config_.ropes) {
    RopeConfig plain;
    plain.theta = rope.theta;
    plain.dims = rope.dims;
    plain.rotated_pairs = rope.rotated_pairs;
    rope = plain;
  }
  config_.kv_valid_until = 0;
}

void WeightSource::will_read(const Part& part) const {
  for (const std::string& name : slice_of(part).names()) {
    const Tensor tensor = find(name);
    if (tensor.quantised) {
      for (const SafeTensor* stored : tensor.quantised->parts) safetensors_->will_read(*stored);
    } else if (tensor.safe) {
      safetensors_->will_read(*tensor.safe);
    } else {
      gguf_->will_read(*tensor.gguf);
    }
  }
}

void WeightSource::check_unchanged() const {
  if (gguf_) gguf_->check_unchanged();
  if (safetensors_) safetensors_->check_unchanged();
}

std::int64_t WeightSource::file_bytes() const {
  return gguf_ ? gguf_->file_bytes() : safetensors_->file_bytes();
}

bool WeightSource::is_part(const SafeTensor& tensor) const {
  return quantised_ && quantised_->has_part(tensor.name);
}

std::int64_t WeightSource::parameters() const {
  std::int64_t sum = 0;
  if (gguf_) {
    for (const GgufTensor& tensor : gguf_->tensors()) sum += tensor.elements;
  } else {
    for (const SafeTensor& tensor : safetensors_->tensors())
      if (!is_part(tensor)) sum += mxfp4_values(tensor);
    if (quantised_)
      for (const auto& tensor : quantised_->tensors()) sum += tensor->elements();
  }
  return sum;
}

std::string WeightSource::quantisation() const {
  std::map<std::string, std::int64_t> share;
  const auto add = [&](const std::string& type, const std::vector<std::int64_t>& shape,
                       std::int64_t elements) {
    if (shape.size() >= 2) share[type] += elements;
  };
  if (gguf_) {
    for (const GgufTensor& tensor : gguf_->tensors())
      add(to_string(tensor.type), tensor.shape, tensor.elements);
  } else {
    for (const SafeTensor& tensor : safetensors_->tensors())
      if (!is_part(tensor))
        add(tensor.dtype == "U8" ? "MXFP4" : tensor.dtype, tensor.shape, mxfp4_values(tensor));
    if (quantised_)
      for (const auto& tensor : quantised_->tensors())
        add(tensor->dtype, tensor->shape(), tensor->elements());
  }
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [type, elements] : share)
    if (elements > 0) order.emplace_back(-elements, type);
  std::sort(order.begin(), order.end());
  std::string text = order.size() > 1 ? "mixed:" : "";
  for (const auto& [elements, type] : order) text += (order.size() > 1 ? " " : "") + type;
  return text;
}

}  // namespace triescope::formats
