#include "core/model/heads/eagle_shape.h"

#include <cmath>
#include <string>

#include "core/base/error.h"

namespace triescope {

using formats::HeadConfig;
using formats::HeadKind;
using formats::ModelConfig;

ModelConfig eagle_layers(const HeadConfig& head, const ModelInfo& target) {
  ModelConfig config;
  config.family = formats::to_string(head.kind);
  config.hidden = head.hidden;
  config.heads = head.heads;
  config.kv_heads = head.kv_heads;
  config.head_dim = head.head_dim;
  config.intermediate = head.intermediate;
  config.vocab_size = target.vocab_size;
  // Positions are rotary: they reach as far as the target's, whatever length the head was trained
  // on.
  config.context = target.context;
  config.layers.assign(static_cast<std::size_t>(head.layers), {});
  config.ropes = {head.rope};
  config.norm_eps = head.norm_eps;
  if (head.qk_norm) config.qk_norm = formats::QkNorm::kHeads;
  config.attention_scale = 1 / std::sqrt(static_cast<float>(head.head_dim));
  return config;
}

ModelInfo eagle_info(const formats::HeadFile& file, const ModelConfig& layers, DType dtype,
                     const std::string& device) {
  ModelInfo info;
  info.name = file.path();
  info.path = file.path();
  info.family = layers.family;
  info.format = "draft head";
  info.parameters = file.parameters();
  info.file_bytes = file.file_bytes();
  info.layers = static_cast<int>(layers.layers.size());
  info.hidden = layers.hidden;
  info.heads = layers.heads;
  info.kv_heads = layers.kv_heads;
  info.head_dim = layers.head_dim;
  info.intermediate = layers.intermediate;
  info.vocab_size = layers.vocab_size;
  info.context = layers.context;
  info.dtype = dtype;
  info.kv_dtype = dtype;
  info.device = device;
  return info;
}

std::size_t check_feature_width(const HeadConfig& head, std::size_t fc_inputs,
                                const ForwardBatch& batch) {
  if (batch.masks.rows > 0)
    throw Error(
        ErrorCode::kNotSupported,
        "forward: expected tokens for a draft head; found mask rows, which a transformer takes");
  const auto hidden = static_cast<std::size_t>(head.hidden);
  const std::size_t rows = batch.tokens.size();
  const std::size_t width = batch.input_features.size() / rows;
  const bool is_whole = batch.input_features.size() == rows * width;
  const std::size_t of_target =
      head.kind == HeadKind::kEagle3 && fc_inputs > 0 ? fc_inputs : hidden;
  if (is_whole && (width == of_target || width == hidden)) return width;
  throw Error(ErrorCode::kInvalidArgument,
              "forward: expected input features of " + std::to_string(of_target) + " or " +
                  std::to_string(hidden) + " values for each of " + std::to_string(rows) +
                  " rows, found " + std::to_string(batch.input_features.size()) + " values");
}

}  // namespace triescope
