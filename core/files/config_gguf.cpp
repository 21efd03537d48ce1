#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/files/end_tokens.h"
#include "core/files/family.h"
#include "core/files/model_name.h"
#include "core/files/unread_family.h"

namespace triescope::formats {
namespace {

// Reads a number, or a list with one number for each layer if all are equal (some converters write
// head_count so).
int uniform_integer(const GgufFile& file, const std::string& key) {
  if (!file.is_array(key)) {
    const std::optional<std::int64_t> value = file.integer(key);
    if (!value)
      throw Error(ErrorCode::kCorruption, file.path() + ": expected key '" + key + "', found none");
    if (*value < 0 || *value > 1 << 30) {
      throw Error(
          ErrorCode::kCorruption,
          file.path() + ": key '" + key + "': expected 0 to 2^30, found " + std::to_string(*value));
    }
    return static_cast<int>(*value);
  }
  const std::vector<std::int64_t> values = *file.integers(key);
  if (values.empty() || values[0] < 0 || values[0] > 1 << 30 ||
      std::any_of(values.begin(), values.end(),
                  [&](std::int64_t value) { return value != values[0]; })) {
    throw Error(ErrorCode::kNotSupported,
                file.path() + ": key '" + key + "' that differs by layer is not supported");
  }
  return static_cast<int>(values[0]);
}

// The numbers of a small F32 tensor that is part of the configuration (rope factors).
std::vector<float> small_tensor(const GgufFile& file, const char* name, int count) {
  const GgufTensor* tensor = file.find(name);
  if (tensor == nullptr) return {};
  const bool is_double = tensor->type == GgmlType::kF64;
  if ((tensor->type != GgmlType::kF32 && !is_double) || tensor->elements != count) {
    throw Error(ErrorCode::kCorruption, file.path() + ": tensor '" + name + "': expected " +
                                            std::to_string(count) + " F32 values, found " +
                                            std::to_string(tensor->elements) + " of " +
                                            to_string(tensor->type));
  }
  std::vector<float> values(static_cast<std::size_t>(count));
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor->bytes));
  file.read(*tensor, 0, bytes);
  dequantise(tensor->type, bytes, values);
  return values;
}

// Recognises "longrope" by its name or by the tensors alone, since Phi-3's converter writes no
// type. Either both lists exist or neither.
bool read_long_factors(const GgufFields& fields, const ModelConfig& config, RopeConfig& rope) {
  const int half = rope.dims / 2;
  const std::vector<float> longer = small_tensor(fields.file(), "rope_factors_long.weight", half);
  const std::vector<float> shorter = small_tensor(fields.file(), "rope_factors_short.weight", half);
  if (longer.empty() != shorter.empty())
    fields.not_supported("one of rope_factors_long and rope_factors_short without the other");
  if (longer.empty()) return false;
  rope.kind = RopeKind::kLongRope;
  rope.long_factor.assign(longer.begin(), longer.end());
  rope.short_factor.assign(shorter.begin(), shorter.end());
  const double factor = static_cast<double>(config.context) / std::max(rope.original_context, 1);
  const double inferred =
      factor <= 1 || rope.original_context < 2
          ? 1
          : std::sqrt(1 + std::log(factor) / std::log(static_cast<double>(rope.original_context)));
  rope.attention_factor = fields.number("rope.scaling.attn_factor", inferred);
  return true;
}

void read_yarn(const GgufFields& fields, RopeConfig& rope) {
  rope.kind = RopeKind::kYarn;
  rope.factor = fields.number("rope.scaling.factor");
  rope.beta_fast = fields.number("rope.scaling.yarn_beta_fast", 32);
  rope.beta_slow = fields.number("rope.scaling.yarn_beta_slow", 1);
  if (const double mix = fields.number("rope.scaling.yarn_ext_factor", 1); mix != 1 && mix != -1)
    fields.not_supported("rope.scaling.yarn_ext_factor other than 1");
  // The converter passes transformers' attention_factor on as yarn_attn_factor.
  // yarn_log_multiplier is transformers' mscale_all_dim, and mscale is 1.
  const auto scale = [&](double mscale) {
    return rope.factor > 1 ? 0.1 * mscale * std::log(rope.factor) + 1 : 1;
  };
  const double inferred = scale(1) / scale(fields.number("rope.scaling.yarn_log_multiplier", 0));
  rope.attention_factor = fields.number("rope.scaling.attn_factor", 1) *
                          fields.number("rope.scaling.yarn_attn_factor", inferred);
}

void read_rope(const GgufFields& fields, ModelConfig& config) {
  RopeConfig rope;
  rope.theta = fields.number("rope.freq_base", 10000);
  rope.dims = fields.integer("rope.dimension_count", config.head_dim);
  rope.original_context = fields.integer("rope.scaling.original_context_length", config.context);
  const std::string type = fields.text("rope.scaling.type").value_or("none");
  const bool sane = rope.dims >= 2 && rope.dims <= 1024;  // validate() refuses the rest
  const bool has_long_factors = sane && read_long_factors(fields, config, rope);
  if (type == "linear") {
    rope.kind = RopeKind::kLinear;
    rope.factor = fields.number("rope.scaling.factor");
  } else if (type == "yarn") {
    read_yarn(fields, rope);
  } else if (type == "longrope") {
    if (!has_long_factors)
      fields.not_supported(
          "rope.scaling.type 'longrope' without the tensors rope_factors_long and "
          "rope_factors_short");
  } else if (type != "none") {
    fields.not_supported(
        "rope.scaling.type '" + type.substr(0, 40) +
        "' (none, linear, yarn and longrope are read; choose a model that has one of "
        "them)");
  } else if (fields.has("rope.scale_linear") && !has_long_factors) {
    rope.kind = RopeKind::kLinear;
    rope.factor = fields.number("rope.scale_linear");
  }
  // Llama 3.1's frequencies, already divided by the converter.
  if (sane) rope.divisors = small_tensor(fields.file(), "rope_freqs.weight", rope.dims / 2);
  config.ropes = {rope};
}

}  // namespace

int GgufFields::integer(const std::string& key, std::optional<int> fallback) const {
  if (!has(key) && fallback) return *fallback;
  return uniform_integer(file_, prefix_ + key);
}

std::vector<int> GgufFields::by_layer(const std::string& key, std::size_t layers) const {
  if (!is_array(key)) return std::vector<int>(layers, integer(key));
  const std::vector<std::int64_t> values = integers(key);
  std::vector<int> all;
  for (const std::int64_t value : values)
    all.push_back(value >= 0 && value <= 1 << 30 ? static_cast<int>(value) : -1);
  if (all.size() != layers || std::ranges::find(all, -1) != all.end())
    throw Error(ErrorCode::kCorruption, file_.path() + ": key '" + prefix_ + key + "': expected " +
                                            std::to_string(layers) +
                                            " numbers from 0 to 2^30, one a layer, found others");
  return all;
}

std::vector<std::int64_t> GgufFields::integers(const std::string& key) const {
  return file_.integers(prefix_ + key).value_or(std::vector<std::int64_t>());
}

double GgufFields::number(const std::string& key, std::optional<double> fallback) const {
  const std::optional<double> value = file_.number(prefix_ + key);
  if (value) return *value;
  if (fallback) return *fallback;
  throw Error(ErrorCode::kCorruption,
              file_.path() + ": expected key '" + prefix_ + key + "', found none");
}

void GgufFields::not_supported(const std::string& what) const {
  throw Error(ErrorCode::kNotSupported, file_.path() + ": " + what + " is not supported");
}

void read_windows_gguf(const GgufFields& fields, ModelConfig& config, int default_window,
                       int period) {
  const int window = fields.integer("attention.sliding_window", default_window);
  const std::string key = "attention.sliding_window_pattern";
  std::vector<std::int64_t> slides;
  if (fields.is_array(key)) {
    slides = fields.integers(key);
    if (slides.size() != config.layers.size())
      throw Error(ErrorCode::kCorruption, fields.file().path() + ": " + key + ": expected " +
                                              std::to_string(config.layers.size()) +
                                              " entries, one a layer, found " +
                                              std::to_string(slides.size()));
  } else {
    period = fields.integer(key, period);
    for (std::size_t i = 0; i < config.layers.size(); ++i)
      slides.push_back(period == 0 || (i + 1) % static_cast<std::size_t>(period) != 0);
  }
  for (std::size_t i = 0; i < config.layers.size(); ++i)
    config.layers[i].window = slides[i] != 0 ? window : 0;
}

ModelConfig config_from_gguf(const GgufFile& file) {
  const std::string architecture = file.text("general.architecture").value_or("");
  const Family* family = nullptr;
  for (const Family* known : all_families()) {
    const auto& names = known->gguf_names;
    if (std::find(names.begin(), names.end(), architecture) != names.end()) family = known;
  }
  if (family == nullptr) refuse_unread_architecture(file, architecture);
  const GgufFields fields(file, architecture);
  ModelConfig config;
  config.from_gguf = true;
  config.family = family->model_type;
  config.name = gguf_model_name(file.text("general.name").value_or(""), file.path());
  config.hidden = fields.integer("embedding_length");
  config.heads = fields.integer("attention.head_count");
  const int layers = fields.integer("block_count");
  if (layers < 1 || layers > 1024) {
    throw Error(ErrorCode::kCorruption,
                file.path() + ": block_count: expected 1 to 1024, found " + std::to_string(layers));
  }
  config.layers.assign(static_cast<std::size_t>(layers), {});
  // The first layer's stands for the model's where layers differ.
  const auto of_layers = [&](const char* key, int LayerConfig::*member) {
    const std::vector<int> all = fields.by_layer(key, config.layers.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      config.layers[i].*member = all[i] == all[0] ? 0 : all[i];
    return all[0];
  };
  const char* const kv_heads = "attention.head_count_kv";
  config.kv_heads = family->layers_differ && fields.has(kv_heads)
                        ? of_layers(kv_heads, &LayerConfig::kv_heads)
                        : fields.integer(kv_heads, config.heads);
  if (config.heads < 1 || config.hidden < 1) {
    throw Error(ErrorCode::kCorruption,
                file.path() + ": expected head_count and embedding_length of 1 or more");
  }
  config.head_dim = fields.integer("attention.key_length", config.hidden / config.heads);
  if (fields.integer("attention.value_length", config.head_dim) != config.head_dim) {
    fields.not_supported("attention.value_length other than key_length");
  }
  config.intermediate = family->layers_differ
                            ? of_layers("feed_forward_length", &LayerConfig::intermediate)
                            : fields.integer("feed_forward_length");
  config.context = fields.integer("context_length");
  if (!file.boolean(architecture + ".attention.causal").value_or(true))
    fields.not_supported("attention.causal = false");
  for (const char* key :
       {"logit_scale", "residual_scale", "embedding_scale", "attention.scale",
        "attention.clamp_kqv", "attention.max_alibi_bias", "attention.temperature_scale"}) {
    const auto& read = family->gguf_scales;
    if (std::find(read.begin(), read.end(), key) == read.end() && fields.number(key, 0) != 0)
      fields.not_supported(key);
  }
  // As in llama.cpp a file has to say it: another one gives another text.
  const char* const rms = "attention.layer_norm_rms_epsilon";
  const char* const norm = "attention.layer_norm_epsilon";
  const bool has_norm =
      !file.number(architecture + "." + rms) && file.number(architecture + "." + norm);
  config.norm_eps = static_cast<float>(fields.number(has_norm ? norm : rms));
  config.attention_scale = 1.0f / std::sqrt(static_cast<float>(std::max(config.head_dim, 1)));

  const GgufTensor* embedding = file.find("token_embd.weight");
  if (embedding == nullptr || embedding->shape.size() != 2 || embedding->shape[0] > 1 << 24) {
    throw Error(ErrorCode::kCorruption,
                file.path() + ": expected a matrix 'token_embd.weight', found none");
  }
  config.vocab_size = static_cast<int>(embedding->shape[0]);
  config.tied_embeddings = file.find("output.weight") == nullptr;
  config.qkv_bias =
      file.find("blk.0.attn_q.bias") != nullptr || file.find("blk.0.attn_qkv.bias") != nullptr;
  config.output_bias = file.find("blk.0.attn_output.bias") != nullptr;
  config.mlp_bias = file.find("blk.0.ffn_down.bias") != nullptr;
  config.head_bias = file.find("output.bias") != nullptr;
  read_rope(fields, config);

  const int said = fields.integer("vocab_size", config.vocab_size);
  if (said != config.vocab_size)
    config.notes.push_back(architecture + ".vocab_size is " + std::to_string(said) +
                           ", the embedding has " + std::to_string(config.vocab_size) +
                           " rows: the vocabulary is the embedding's");
  config.eos_token_ids = end_tokens(file, config.vocab_size, &config.notes);
  config.bos_token_id =
      special_token(file, "tokenizer.ggml.bos_token_id", config.vocab_size).value_or(-1);
  family->read_gguf(fields, config);
  if (fields.integer("expert_count", 0) > 0 && !config.has_experts())
    fields.not_supported("a mixture of experts (expert_count) of family " + config.family);
  validate(config, file.path());
  return config;
}

}  // namespace triescope::formats
