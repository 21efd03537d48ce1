#include "core/model/heads/head_weights.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/model/heads/head_tensors.h"

namespace triescope {

using formats::ElementType;
using formats::GgmlType;
using kernels::PackedLinear;

namespace {

// nullopt for integers and booleans.
std::optional<GgmlType> stored_type(ElementType type) {
  if (type == ElementType::kF32) return GgmlType::kF32;
  if (type == ElementType::kF16) return GgmlType::kF16;
  if (type == ElementType::kBf16) return GgmlType::kBF16;
  return std::nullopt;
}

}  // namespace

PackedLinear HeadLoader::stacked(std::span<const std::string> names) const {
  std::vector<PackedLinear::Part> parts;
  for (const std::string& name : names) {
    const std::int64_t outputs = file_.shape(name + ".weight").at(0);
    const std::optional<GgmlType> type = stored_type(file_.type(name + ".weight"));
    parts.push_back(type ? PackedLinear::Part::stored(outputs, *type, precision_)
                         : PackedLinear::Part::plain(outputs, precision_));
  }
  PackedLinear packed(parts, stacked_shape(file_, names).inputs);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string bias_name = names[i] + ".bias";
    const formats::HeadTensor weight = file_.tensor(names[i] + ".weight");
    if (parts[i].type == stored_type(weight.type)) {
      packed.set_stored_rows(first, weight.shape[0], weight.bytes, pool_);
    } else {
      packed.set_rows(first, weight.shape[0], weight.floats().data(), pool_);
    }
    if (file_.has(bias_name))
      packed.set_bias(first, weight.shape[0], file_.tensor(bias_name).floats().data());
    first += weight.shape[0];
  }
  return packed;
}

std::shared_ptr<const PackedLinear> HeadLoader::linear(const std::string& name) {
  auto& packed = packed_[file_.source(name + ".weight")];
  if (!packed) packed = std::make_shared<const PackedLinear>(stacked({&name, 1}));
  return packed;
}

std::vector<float> HeadLoader::vector(const std::string& name) const {
  return file_.has(name) ? file_.tensor(name).floats() : std::vector<float>();
}

CpuWeights::Layer HeadLoader::layer(const std::string& prefix) const {
  const LayerTensors names(prefix);
  CpuWeights::Layer layer;
  layer.qkv = stacked(names.qkv);
  layer.output = stacked(names.output);
  layer.mlps.push_back({stacked(names.gate_up), stacked(names.down)});
  layer.attention_norm = vector(names.attention_norm);
  layer.mlp_norm = vector(names.mlp_norm);
  layer.query_norm = vector(names.query_norm);
  layer.key_norm = vector(names.key_norm);
  return layer;
}

HeadEmbedding::HeadEmbedding(HeadLoader& loader, Model& target, const std::string& own)
    : target_(target),
      own_(own.empty() ? nullptr : loader.linear(own)),
      width_(static_cast<std::size_t>(own_ ? own_->inputs() : target.info().hidden)) {}

void HeadEmbedding::read(std::span<const std::int32_t> tokens, float* out, std::size_t stride) {
  if (own_) {
    for (std::size_t i = 0; i < tokens.size(); ++i) own_->read_row(tokens[i], out + i * stride);
    return;
  }
  rows_.resize(tokens.size() * width_);
  target_.embed(tokens, rows_);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    std::copy_n(rows_.data() + i * width_, width_, out + i * stride);
}

HeadOutput::HeadOutput(HeadLoader& loader, Model& target, const std::string& own)
    : target_(target),
      pool_(loader.pool()),
      own_(own.empty() ? nullptr : loader.linear(own)),
      vocab_(static_cast<std::size_t>(target.info().vocab_size)) {
  if (own_) target_ids_ = draft_vocabulary(loader.file());
}

std::span<const float> HeadOutput::logits(std::span<const float> states, double scale) {
  std::span<const float> drafted;
  if (own_) {
    const auto rows = static_cast<std::int64_t>(states.size()) / own_->inputs();
    drafted_.resize(static_cast<std::size_t>(rows * own_->outputs()));
    kernels::linear(*own_, states.data(), own_->inputs(), rows, drafted_.data(), own_->outputs(),
                    pool_);
    drafted = drafted_;
  } else {
    drafted = target_.output_head(states);
  }
  if (target_ids_.empty() && scale == 1) return drafted;
  const std::size_t width = target_ids_.empty() ? vocab_ : target_ids_.size();
  const std::size_t rows = drafted.size() / width;
  logits_.assign(rows * vocab_, -std::numeric_limits<float>::infinity());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t id = target_ids_.empty() ? i : static_cast<std::size_t>(target_ids_[i]);
      logits_[r * vocab_ + id] = static_cast<float>(drafted[r * width + i] * scale);
    }
  return logits_;
}

}  // namespace triescope
