#include "core/files/draft_head/resolve_config.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/files/draft_head/indexed_name.h"
#include "core/files/draft_head/resolver.h"

namespace triescope::formats {

namespace {
constexpr int kMostMasks = 64;
}  // namespace

// Sizes of the layer whose tensors begin with `first`. A config.json without num_attention_heads
// does not describe a transformer (it is Hydra's, or absent): the layer is then like the target's.
void Resolver::transformer(const std::string& first) {
  const std::string attention = first + "self_attn.";
  const int query = tensors.extent(attention + "q_proj.weight", 2, 0);
  const int key = tensors.extent(attention + "k_proj.weight", 2, 0);
  config.qk_norm = tensors.has(attention + "q_norm.weight");
  config.attention_bias = tensors.has(attention + "q_proj.bias");
  config.attention_output_bias = tensors.has(attention + "o_proj.bias");
  config.mlp_bias = tensors.has(first + "mlp.gate_proj.bias");
  config.intermediate = tensors.extent(first + "mlp.gate_proj.weight", 2, 0);

  const JsonFields layer = json.layer();
  const bool said = layer.has("num_attention_heads");
  config.heads = said ? layer.integer("num_attention_heads") : target.heads;
  if (said && layer.has("head_dim")) {
    config.head_dim = layer.integer("head_dim");
  } else if (config.qk_norm) {
    config.head_dim = tensors.extent(attention + "q_norm.weight", 1, 0);
  } else if (!said && target.head_dim > 0 && query % target.head_dim == 0) {
    config.head_dim = target.head_dim;
  } else if (config.heads > 0 && query % config.heads == 0) {
    config.head_dim = query / config.heads;
  } else if (target.hidden > 0 || said) {
    corrupt("expected a config.json with num_attention_heads that divides the " +
            std::to_string(query) + " rows of " + attention + "q_proj.weight");
  } else {
    config.head_dim = std::gcd(query, key);
    notes.push_back("the number of attention heads is not known without a config.json or a target");
  }
  if (config.head_dim < 1) corrupt("config.json: head_dim: expected 1 or more");
  if (!said) config.heads = query / config.head_dim;
  config.kv_heads = said && layer.has("num_key_value_heads") ? layer.integer("num_key_value_heads")
                                                             : key / config.head_dim;
  if (!said) {
    config.rope = target.rope;
    config.norm_eps = target.norm_eps > 0 ? target.norm_eps : config.norm_eps;
    if (config.rope.dims == 0) {
      config.rope.dims = config.head_dim;
      notes.push_back("neither config.json nor the target says the rope: theta 10000 is used");
    } else if (config.kind != HeadKind::kHydra) {
      notes.push_back(
          "config.json does not describe the layer: attention heads, rope and epsilon are the "
          "target's");
    }
    return;
  }
  config.context = layer.integer("max_position_embeddings", 2048);
  config.rope = json.rope(config.head_dim, config.context, notes);
  config.norm_eps = static_cast<float>(layer.number("rms_norm_eps", 1e-6));
  const std::string act = layer.text("hidden_act", "silu");
  if (act != "silu" && act != "swish")
    refuse("config.json: hidden_act '" + act.substr(0, 40) + "' of a draft head is not supported");
  bool slides = layer.boolean("use_sliding_window", false);
  if (layer.has("layer_types"))
    for (const std::string& type : layer.texts("layer_types"))
      slides = slides || type == "sliding_attention";
  if (slides)
    notes.push_back("config.json asks for a sliding window; the head sees the whole text");
}

// The vocabulary sizes come from the rows of output head and embedding, else from config.json, else
// from the target.
void Resolver::vocabularies(const std::string& embedding, const std::string& output) {
  config.own_embedding = tensors.has(embedding);
  config.own_lm_head = tensors.has(output);
  const bool has_map = tensors.has("d2t");
  if (has_map) config.draft_vocab = tensors.extent("d2t", 1, 0);
  if (config.own_lm_head) {
    const int rows = tensors.extent(output, 2, 0);
    if (!has_map) config.draft_vocab = rows;
  }
  const JsonFields layer = json.layer();
  config.vocab = config.own_embedding             ? tensors.extent(embedding, 2, 0)
                 : tensors.has("t2d")             ? tensors.extent("t2d", 1, 0)
                 : config.own_lm_head && !has_map ? config.draft_vocab
                 : layer.has("vocab_size")        ? layer.integer("vocab_size")
                                                  : target.vocab;
  if (!has_map) config.draft_vocab = config.vocab;
  compare(json.fields(), "draft_vocab_size", config.draft_vocab, "draft tokens");
}

void Resolver::eagle() {
  config.kind = HeadKind::kEagle;
  for (const char* norm :
       {"embedding_layernorm.weight", "hidden_states_layernorm.weight", "embed_layernorm.weight",
        "hidden_layernorm.weight", "pre_lm_head_layernorm.weight", "lm_head_layernorm.weight",
        "enorm.weight", "hnorm.weight"}) {
    if (tensors.has(norm))
      refuse("an EAGLE head with layer norms of its own (" + std::string(norm) +
             ", HASS's form), which triescope does not support");
  }
  config.hidden = config.target_hidden = tensors.extent("fc.weight", 2, 0);
  config.fc_bias = tensors.has("fc.bias");
  config.layers = index_count(tensors.names(), "layers.");
  if (config.layers != 1)
    refuse("an EAGLE head with " + std::to_string(config.layers) + " layers; one is supported");
  transformer("layers.0.");
  vocabularies("embed_tokens.weight", "lm_head.weight");
  config.logit_scale = json.fields().number("logit_scale", 1);
}

void Resolver::eagle3() {
  config.kind = HeadKind::kEagle3;
  const JsonFields fields = json.fields();
  config.hidden = tensors.extent("midlayer.hidden_norm.weight", 1, 0);
  config.has_fc = tensors.has("fc.weight");
  config.layers = std::max(index_count(tensors.names(), "layers."), 1);
  transformer("midlayer.");
  compare(json.layer(), "num_hidden_layers", config.layers, "layers");
  vocabularies("embed_tokens.weight", "lm_head.weight");

  if (config.has_fc) {
    const int width = tensors.extent("fc.weight", 2, 1);
    const int parts = index_count(tensors.names(), "fc_norm.");
    std::string from;
    const int ids = static_cast<int>(json.feature_layers(from).size());
    // The number of states: as many as are named or have a norm, else three. A list whose length is
    // not the number of fc's column groups, counted by the target's width, does not decide it: it
    // is refused later, by its name.
    const int said = fields.has("target_hidden_size") ? fields.integer("target_hidden_size") : 0;
    const bool is_as_wide = target.hidden == 0 || target.hidden == config.hidden;
    const int columns = is_as_wide && config.hidden > 0 && width % config.hidden == 0
                            ? width / config.hidden
                        : width == 3 * target.hidden ? 3
                                                     : 0;
    const bool may_be_right = ids == 3 || columns == 0 || columns == ids;
    const int states = parts > 0                                     ? parts
                       : said > 0 && width % said == 0               ? width / said
                       : ids > 0 && width % ids == 0 && may_be_right ? ids
                       : columns > 0 && (ids > 0 || width % 3 != 0)  ? columns
                                                                     : 3;
    config.target_hidden = width / states;
    if (config.target_hidden < 1)
      corrupt("fc.weight: expected three states of the target as its columns");
  } else {
    config.target_hidden = config.hidden;
  }
  config.norm_before_fc = tensors.has("input_norm.weight");
  config.fc_norm = tensors.has_prefix("fc_norm.");
  config.norm_before_residual = fields.boolean("norm_before_residual", false);
  config.norm_output = fields.boolean("norm_output", false);
  if (config.norm_output && !json.is_speculators() && !config.fc_norm) {
    config.norm_output = false;
    notes.push_back(
        "config.json says norm_output in SpecForge's older sense (the norm before the output "
        "head): it changes nothing");
  }
  for (const auto& [key, is_stored] :
       {std::pair("norm_before_fc", config.norm_before_fc), std::pair("fc_norm", config.fc_norm)}) {
    if (fields.has(key) && fields.boolean(key, false) != is_stored)
      notes.push_back("config.json says " + std::string(key) + (is_stored ? " false" : " true") +
                      ", but its weights are " +
                      (is_stored ? "there: they are used" : "missing: it has no effect"));
  }
  config.logit_scale = fields.number("logit_scale", 1);
}

void Resolver::medusa() {
  config.kind = HeadKind::kMedusa;
  config.hidden = config.target_hidden = tensors.extent("0.0.linear.weight", 2, 0);
  config.head_count = index_count(tensors.names(), "");
  config.head_layers = 0;
  while (tensors.has("0." + std::to_string(config.head_layers) + ".linear.weight"))
    ++config.head_layers;
  config.fc_bias = tensors.has("0.0.linear.bias");
  // Whole models have an embedding and an output head; those are the target's.
  vocabularies("", "0." + std::to_string(config.head_layers) + ".weight");
  for (const char* key : {"medusa_num_heads", "num_heads"})
    compare(json.fields(), key, config.head_count, "heads");
  compare(json.fields(), "medusa_num_layers", config.head_layers, "layers per head");
  config.logit_scale = json.fields().number("logit_scale", 1);
}

void Resolver::hydra() {
  config.kind = HeadKind::kHydra;
  const JsonFields fields = json.fields();
  config.head_count = index_count(tensors.names(), "hydra_mlp.");
  if (!tensors.has("hydra_mlp.0.1.res_connection.weight"))
    refuse(
        "Hydra heads that do not read the drafted tokens (grounded_heads false), which triescope "
        "does not support");
  config.hidden = config.target_hidden = tensors.extent("hydra_mlp.0.1.linear.weight", 2, 0);
  config.head_layers = 0;
  while (
      tensors.has("hydra_mlp.0." + std::to_string(2 * config.head_layers + 1) + ".linear.weight"))
    ++config.head_layers;
  config.prefix_layer = tensors.has_prefix("prefix_embeding_layer.layers.0.");
  if (config.prefix_layer) {
    config.layers = 1;
    if (tensors.has_prefix("prefix_embeding_layer.layers.1."))
      refuse("a Hydra prefix of more than one layer; one is supported");
    transformer("prefix_embeding_layer.layers.0.");
  }
  vocabularies("input_embed_fn.weight", "hydra_lm_head.0.1.weight");
  config.lm_head_bias = tensors.has("hydra_lm_head.0.1.bias");
  compare(fields, "hydra_num_heads", config.head_count, "heads");
  compare(fields, "hydra_num_layers", config.head_layers, "layers per head");
}

// "mask_embeddings" [masks, d]; perhaps "prefix_keys" and "prefix_values" [layers, kv_heads, prefix,
// head_dim].
void Resolver::space() {
  config.kind = HeadKind::kSpace;
  config.mask_count = tensors.extent("mask_embeddings", 2, 0);
  config.hidden = config.target_hidden = tensors.extent("mask_embeddings", 2, 1);
  if (tensors.has("prefix_keys") || tensors.has("prefix_values")) {
    config.prefix_layers = tensors.extent("prefix_keys", 4, 0);
    config.kv_heads = tensors.extent("prefix_keys", 4, 1);
    config.mask_prefix = tensors.extent("prefix_keys", 4, 2);
    config.head_dim = tensors.extent("prefix_keys", 4, 3);
  }
  vocabularies("", "");
  compare(json.fields(), "space_num_masks", config.mask_count, "masks");
  compare(json.fields(), "space_prefix_length", config.mask_prefix, "positions of the prefix");
}

// A model that was tuned as a whole: its masks are rows of its embedding.
void Resolver::space_model() {
  config.kind = HeadKind::kSpace;
  const JsonFields fields = json.fields();
  config.hidden = config.target_hidden = tensors.extent("embed_tokens.weight", 2, 1);
  config.vocab = config.draft_vocab = tensors.extent("embed_tokens.weight", 2, 0);
  config.mask_rows = fields.integers("space_mask_ids");
  const auto ids = static_cast<int>(config.mask_rows.size());
  config.mask_count = fields.integer("space_num_masks", ids);
  if (ids == 0 || (ids != 1 && ids != config.mask_count))
    fields.corrupt("space_mask_ids", "one id for all masks, or one for each of the " +
                                         std::to_string(config.mask_count) +
                                         " that space_num_masks says");
  for (const std::int64_t id : config.mask_rows)
    if (id < 0 || id >= config.vocab)
      fields.corrupt("space_mask_ids",
                     "ids of embedding rows, from 0 to " + std::to_string(config.vocab - 1));
  if (config.mask_count >= 1 && config.mask_count <= kMostMasks)
    config.mask_rows.resize(static_cast<std::size_t>(config.mask_count), config.mask_rows[0]);
}

namespace {

void check_range(int value, int most, const std::string& what, const std::string& path) {
  if (value < 1 || value > most) {
    throw Error(ErrorCode::kCorruption, path + ": expected " + what + " from 1 to " +
                                            std::to_string(most) + ", found " +
                                            std::to_string(value));
  }
}

void check_block(const HeadConfig& config, const std::string& path) {
  constexpr int kLargestBlock = 256;
  if (config.block_size < 2 || config.block_size > kLargestBlock)
    throw Error(ErrorCode::kCorruption, path + ": config.json: block_size: expected 2 to " +
                                            std::to_string(kLargestBlock) + ", found " +
                                            std::to_string(config.block_size));
  if (config.vocab > 0 && config.mask_token >= config.vocab)
    throw Error(ErrorCode::kCorruption,
                path + ": config.json: mask_token_id: expected a row of the embedding, 0 to " +
                    std::to_string(config.vocab - 1) + ", found " +
                    std::to_string(config.mask_token));
}

}  // namespace

HeadConfig resolve_config(HeadLayout layout, const NamedTensors& tensors, const HeadJson& json,
                          const TargetShape& target, std::vector<std::string>& notes) {
  Resolver resolver{tensors, json, target, notes};
  switch (layout) {
    case HeadLayout::kEagle:
      resolver.eagle();
      break;
    case HeadLayout::kEagle3:
      resolver.eagle3();
      break;
    case HeadLayout::kMedusa:
    case HeadLayout::kMedusaVllm:
      resolver.medusa();
      break;
    case HeadLayout::kSpace:
      resolver.space();
      break;
    case HeadLayout::kSpaceModel:
      resolver.space_model();
      break;
    case HeadLayout::kMtp:
      resolver.mtp();
      break;
    case HeadLayout::kDFlash:
      resolver.dflash();
      break;
    default:
      resolver.hydra();
  }
  HeadConfig config = std::move(resolver.config);
  const std::string& path = tensors.path();
  if (config.layers > 0) {
    // The limits are those of a model's layer.
    ModelConfig layer;
    layer.hidden = config.hidden;
    layer.heads = config.heads;
    layer.kv_heads = config.kv_heads;
    layer.head_dim = config.head_dim;
    layer.intermediate = config.intermediate;
    layer.vocab_size = std::max(config.vocab, 1);
    layer.context = std::max(config.context, 1);
    layer.layers.assign(static_cast<std::size_t>(config.layers), {});
    layer.ropes = {config.rope};
    layer.norm_eps = config.norm_eps;
    layer.attention_scale = 1;
    validate(layer, path);
  }
  check_range(config.hidden, 1 << 17, "a hidden size", path);
  if (config.kind == HeadKind::kSpace) check_range(config.mask_count, kMostMasks, "masks", path);
  if (config.kind == HeadKind::kDFlash) check_block(config, path);
  if (!std::isfinite(config.logit_scale))
    throw Error(ErrorCode::kCorruption, path + ": logit_scale: expected a number");
  config.trained_for = json.trained_for();
  config.draft_tree = json.fields().text("draft_tree", "");
  return config;
}

}  // namespace triescope::formats
