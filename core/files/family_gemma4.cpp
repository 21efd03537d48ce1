// Gemma 4 (text): layers with a window and layers without one have heads of two sizes, and perhaps another
// number of key/value heads; the last layers read the K and V of the last earlier layer of their kind; an embedding
// of every layer; norms before and after, of every head's q, k and v; a scale of every layer; a rope of its own
// for each kind, in full layers over the first pairs of a head alone. The 26B-A4B has experts beside each layer's
// MLP. Source: transformers 5.17.0, modeling_gemma4.py, and llama.cpp's converter.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/files/family.h"

namespace triescope::formats {
namespace {

// Of files of both kinds.
void fill_shared(ModelConfig& config) {
  config.post_norms = true;
  config.qk_norm = QkNorm::kHeads;
  config.value_norm = true;
  config.attention_scale = 1;
  config.embedding_scale = std::sqrt(static_cast<float>(config.hidden));
  for (LayerConfig& layer : config.layers) layer.rope = layer.window > 0 ? 1 : 0;
}

// Beside the experts each row goes through the layer's MLP, which counts as the shared one.
void mix_experts(ModelConfig& config) {
  config.experts.normalise = true;
  config.experts.own_norms = true;
  config.experts.shared_intermediate = config.intermediate;
}

// The last `count` layers read the K and V of the last layer of their kind before them. False: one has none.
bool share_kv(ModelConfig& config, int count) {
  const int first = static_cast<int>(config.layers.size()) - count;
  for (std::size_t i = static_cast<std::size_t>(std::max(first, 0)); i < config.layers.size();
       ++i) {
    LayerConfig& layer = config.layers[i];
    for (int j = 0; j < first; ++j) {
      const int window = config.layers[static_cast<std::size_t>(j)].window;
      if ((window > 0) == (layer.window > 0)) layer.kv_from = j;
    }
    if (layer.kv_from < 0) return false;
  }
  return true;
}

// What config.json says of single layers: {"4": {"head_dim": 512, "num_key_value_heads": 1}, ...}.
void read_layers(const JsonFields& fields, ModelConfig& config) {
  const JsonFields all = fields.object("per_layer_config");
  for (const auto& [name, value] : all.raw().items()) {
    const std::size_t index =
        name.size() > 4 || name.empty() || name.find_first_not_of("0123456789") != std::string::npos
            ? config.layers.size()
            : std::stoul(name);
    if (index >= config.layers.size()) fields.corrupt("per_layer_config", "the numbers of layers");
    const JsonFields of_layer = all.object(name.c_str());
    for (const auto& [key, ignored] : of_layer.raw().items())
      if (key != "head_dim" && key != "num_key_value_heads")
        fields.not_supported("per_layer_config with '" + key.substr(0, 40) + "'");
    config.layers[index].head_dim = of_layer.integer("head_dim", 0);
    config.layers[index].kv_heads = of_layer.integer("num_key_value_heads", 0);
  }
}

void read_gemma4(const JsonFields& fields, ModelConfig& config) {
  if (fields.boolean("enable_moe_block", false)) {
    config.experts.used = fields.integer("top_k_experts");
    config.experts.intermediate = fields.integer("moe_intermediate_size");
    for (LayerConfig& layer : config.layers) layer.experts = fields.integer("num_experts");
    mix_experts(config);
  }
  if (fields.text("use_bidirectional_attention", "") == "all")
    fields.not_supported("use_bidirectional_attention 'all'");
  config.tied_embeddings = fields.boolean("tie_word_embeddings", true);
  config.activation = activation_from_json(fields, "hidden_activation", "gelu_pytorch_tanh");
  config.qkv_bias = config.output_bias = fields.boolean("attention_bias", false);
  config.logit_softcap = static_cast<float>(fields.number("final_logit_softcapping", 0));
  config.head_dim = fields.integer("head_dim", 256);
  config.layer_scale = true;
  read_windows_json(
      fields, config, fields.integer("sliding_window", 512),
      [](int layer, int) { return (layer + 1) % 6 != 0; }, 0);
  if (LayerConfig& last = config.layers.back(); last.window > 0) {
    last.window = 0;
    config.notes.emplace_back(
        "config.json: the last layer has a sliding window and is taken as one without, as in transformers");
  }

  const bool values_are_keys = fields.boolean("attention_k_eq_v", false);
  const int global_head = fields.integer("global_head_dim", 512);
  const int full_kv_heads = values_are_keys ? fields.integer("num_global_key_value_heads", 0) : 0;
  const bool by_layer = fields.has("per_layer_config");
  if (by_layer) read_layers(fields, config);
  int full_head = 0, sliding_head = 0;
  for (LayerConfig& layer : config.layers) {
    const bool slides = layer.window > 0;
    if (!slides && !by_layer) {
      layer.head_dim = global_head;
      layer.kv_heads = full_kv_heads;
    }
    layer.value_is_key = values_are_keys && !slides;
    const int head = layer.head_dim > 0 ? layer.head_dim : config.head_dim;
    int& of_kind = slides ? sliding_head : full_head;
    if (of_kind != 0 && of_kind != head)
      fields.not_supported("per_layer_config with several head_dim in layers of one kind");
    of_kind = head;
  }
  const int shared = fields.integer("num_kv_shared_layers", 0);
  if (!share_kv(config, shared))
    fields.corrupt("num_kv_shared_layers", "an earlier layer of each kind with K and V of its own");
  if (fields.boolean("use_double_wide_mlp", false))
    for (LayerConfig& layer : config.layers)
      if (layer.kv_from >= 0) layer.intermediate = 2 * std::min(config.intermediate, 1 << 29);

  const bool has_dims = fields.has("hidden_size_per_layer_input");
  const bool no_dims = fields.raw().contains("hidden_size_per_layer_input") && !has_dims;
  config.per_layer.dims = no_dims ? 0 : fields.integer("hidden_size_per_layer_input", 256);
  config.per_layer.vocab = fields.integer("vocab_size_per_layer_input", 262144);

  static const nlohmann::json kDefaults = {
      {"full_attention",
       {{"rope_type", "proportional"}, {"rope_theta", 1e6}, {"partial_rotary_factor", 0.25}}},
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}}};
  const JsonFields ropes = fields.has("rope_parameters") ? fields.object("rope_parameters")
                                                         : JsonFields(kDefaults, fields.path());
  config.ropes = {rope_from_json(ropes.object("full_attention"), 1e6, 1, config, {},
                                 RotaryPart::kWholeHead, full_head),
                  rope_from_json(ropes.object("sliding_attention"), 1e4, 1, config, {},
                                 RotaryPart::kWholeHead, sliding_head)};
  fill_shared(config);
}

void gguf_gemma4(const GgufFields& fields, ModelConfig& config) {
  config.activation = Activation::kGeluTanh;
  config.logit_softcap = static_cast<float>(fields.number("final_logit_softcapping", 0));
  read_windows_gguf(fields, config, 0, 6);
  const int full_head = config.head_dim;
  config.head_dim = fields.integer("attention.key_length_swa", full_head);
  if (fields.integer("attention.value_length_swa", config.head_dim) != config.head_dim)
    fields.not_supported("attention.value_length_swa other than key_length_swa");
  config.layer_scale = fields.file().find("blk.0.layer_output_scale.weight") != nullptr;
  config.per_layer.dims = fields.integer("embedding_length_per_layer_input", 0);
  config.per_layer.vocab = config.vocab_size;
  read_experts_gguf(fields, config, true);
  if (config.has_experts()) mix_experts(config);
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    LayerConfig& layer = config.layers[i];
    if (layer.window > 0) continue;
    layer.head_dim = full_head;
    layer.value_is_key =
        fields.file().find("blk." + std::to_string(i) + ".attn_v.weight") == nullptr;
  }
  if (!share_kv(config, fields.integer("attention.shared_kv_layers", 0)))
    throw Error(ErrorCode::kCorruption,
                fields.file().path() +
                    ": attention.shared_kv_layers: expected an earlier layer of "
                    "each kind with K and V of its own, found none");

  // The converter divides the frequencies of pairs that are not rotated by 1e30.
  RopeConfig& full = config.ropes[0];
  if (!fields.has("rope.freq_base")) full.theta = 1e6;
  const auto rotated =
      std::ranges::find_if(full.divisors, [](float divisor) { return divisor >= 1e30f; });
  full.rotated_pairs = static_cast<int>(rotated - full.divisors.begin());
  const bool rotates_none = !full.divisors.empty() && full.rotated_pairs == 0;
  if (rotates_none ||
      std::any_of(full.divisors.begin(), rotated, [](float divisor) { return divisor != 1; }) ||
      std::any_of(rotated, full.divisors.end(), [](float divisor) { return divisor < 1e30f; }))
    fields.not_supported("rope_freqs.weight other than 1 and then 1e30");
  full.divisors.clear();
  RopeConfig sliding;
  sliding.theta = fields.number("rope.freq_base_swa", 1e4);
  sliding.dims = fields.integer("rope.dimension_count_swa", config.head_dim);
  config.ropes.push_back(sliding);
  fill_shared(config);
}

// The layer's own MLP, under the names that it has in a layer without experts.
std::optional<WeightSlice> own_mlp(const ModelConfig& config, const Part& part) {
  if (!is_of_expert(part.role) || !is_shared(config, part)) return std::nullopt;
  return locate(config, {part.role, part.layer});
}

std::optional<WeightSlice> gemma4_json_weight(const ModelConfig& config, const Part& part) {
  const std::string layer = "model.layers." + std::to_string(part.layer) + ".";
  if (part.role == Role::kMlpNorm) return WeightSlice{layer + "pre_feedforward_layernorm.weight"};
  if (part.role == Role::kRouter) return WeightSlice{layer + "router.proj.weight"};
  if (!is_of_expert(part.role) || part.expert < 0) return std::nullopt;
  if (is_shared(config, part)) return own_mlp(config, part);
  return stacked_expert(config, part, layer + "experts.gate_up_proj", layer + "experts.down_proj");
}

}  // namespace

extern const Family kGemma4, kGemma4Text;
const Family kGemma4 = {"gemma4", {}, nullptr,       nullptr,      nullptr,
                        nullptr,  {}, "text_config", "gemma4_text"};
const Family kGemma4Text = {.model_type = "gemma4_text",
                            .gguf_names = {"gemma4"},
                            .read_json = read_gemma4,
                            .read_gguf = gguf_gemma4,
                            .json_weight = gemma4_json_weight,
                            .gguf_weight = own_mlp,
                            .layers_differ = true};

}  // namespace triescope::formats
