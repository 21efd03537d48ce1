#include "core/files/draft_head/head_shapes.h"

#include <set>

#include "core/base/error.h"
#include "core/files/draft_head/head_file.h"
#include "core/files/shape_text.h"

namespace triescope::formats {
namespace {

using Shape = std::vector<std::int64_t>;

struct Expected {
  std::string name;
  Shape shape;
};

class List {
 public:
  explicit List(const HeadConfig& config) : config_(config) {}
  std::vector<Expected> take() { return std::move(list_); }

  void add(const std::string& name, Shape shape) { list_.push_back({name, std::move(shape)}); }
  void add_if(bool there, const std::string& name, Shape shape) {
    if (there) add(name, std::move(shape));
  }
  // The shapes of a transformer layer whose q, k and v read rows of `width`.
  void layer(const std::string& first, std::int64_t width) {
    const std::int64_t d = config_.hidden, ff = config_.intermediate;
    const std::int64_t query = std::int64_t{config_.heads} * config_.head_dim;
    const std::int64_t key = std::int64_t{config_.kv_heads} * config_.head_dim;
    const std::string attention = first + "self_attn.", mlp = first + "mlp.";
    linear(attention + "q_proj", query, width, config_.attention_bias);
    linear(attention + "k_proj", key, width, config_.attention_bias);
    linear(attention + "v_proj", key, width, config_.attention_bias);
    linear(attention + "o_proj", d, query, config_.attention_output_bias);
    add_if(config_.qk_norm, attention + "q_norm.weight", {config_.head_dim});
    add_if(config_.qk_norm, attention + "k_norm.weight", {config_.head_dim});
    add(first + "post_attention_layernorm.weight", {d});
    linear(mlp + "gate_proj", ff, d, config_.mlp_bias);
    linear(mlp + "up_proj", ff, d, config_.mlp_bias);
    linear(mlp + "down_proj", d, ff, config_.mlp_bias);
  }
  void linear(const std::string& name, std::int64_t out, std::int64_t in, bool bias) {
    add(name + ".weight", {out, in});
    add_if(bias, name + ".bias", {out});
  }

 private:
  const HeadConfig& config_;
  std::vector<Expected> list_;
};

// `states`: how many of the target's states enter fc.
std::vector<Expected> expected_tensors(const HeadConfig& config, const NamedTensors& tensors,
                                       int states) {
  List list(config);
  const std::int64_t d = config.hidden, dt = config.target_hidden, rows = config.draft_vocab;
  if (config.kind == HeadKind::kEagle || config.kind == HeadKind::kEagle3) {
    const bool is_eagle3 = config.kind == HeadKind::kEagle3;
    if (config.has_fc) list.linear("fc", d, is_eagle3 ? states * dt : 2 * dt, config.fc_bias);
    list.add_if(config.own_embedding, "embed_tokens.weight", {config.vocab, d});
    list.add_if(config.norm_before_fc, "input_norm.weight", {states * dt});
    for (int i = 0; config.fc_norm && i < states; ++i)
      list.add("fc_norm." + std::to_string(i) + ".weight", {dt});
    if (is_eagle3) {
      list.add("midlayer.input_layernorm.weight", {d});
      list.add("midlayer.hidden_norm.weight", {d});
    }
    list.layer(is_eagle3 ? "midlayer." : "layers.0.", is_eagle3 ? 2 * d : d);
    for (int i = 1; i < config.layers; ++i) {
      list.add("layers." + std::to_string(i) + ".input_layernorm.weight", {d});
      list.layer("layers." + std::to_string(i) + ".", d);
    }
    list.add_if(is_eagle3, "norm.weight", {d});
    list.add_if(config.own_lm_head, "lm_head.weight", {rows, d});
  }
  if (config.kind == HeadKind::kMtp || config.kind == HeadKind::kDFlash) {
    const bool is_mtp = config.kind == HeadKind::kMtp;
    list.linear("fc", d, is_mtp ? 2 * d : states * dt, config.fc_bias);
    list.add_if(is_mtp, "embedding_norm.weight", {d});
    list.add("hidden_norm.weight", {d});
    list.add("norm.weight", {d});
    for (int i = 0; i < config.layers; ++i) {
      list.add("layers." + std::to_string(i) + ".input_layernorm.weight", {d});
      list.layer("layers." + std::to_string(i) + ".", d);
    }
    list.add_if(config.own_embedding, "embed_tokens.weight", {config.vocab, d});
    list.add_if(config.own_lm_head, "lm_head.weight", {rows, d});
  }
  if (config.kind == HeadKind::kMedusa) {
    for (int h = 0; h < config.head_count; ++h) {
      const std::string head = std::to_string(h) + ".";
      for (int l = 0; l < config.head_layers; ++l)
        list.linear(head + std::to_string(l) + ".linear", d, dt, config.fc_bias);
      list.add_if(config.own_lm_head, head + std::to_string(config.head_layers) + ".weight",
                  {rows, d});
    }
  }
  if (config.kind == HeadKind::kHydra) {
    list.add_if(config.own_embedding, "input_embed_fn.weight", {config.vocab, d});
    if (config.prefix_layer) {
      list.add("prefix_embeding_layer.layers.0.input_layernorm.weight", {d});
      list.layer("prefix_embeding_layer.layers.0.", dt);
      list.add("prefix_embeding_layer.norm.weight", {d});
    }
    for (int i = 0; i < config.head_count; ++i) {
      const std::string head = "hydra_mlp." + std::to_string(i) + ".";
      list.linear(head + "1.linear", d, (i + 2) * dt, true);
      list.linear(head + "1.res_connection", d, (i + 2) * dt, true);
      for (int l = 1; l < config.head_layers; ++l)
        list.linear(head + std::to_string(2 * l + 1) + ".linear", d, d, true);
      if (config.own_lm_head)
        list.linear("hydra_lm_head." + std::to_string(i) + ".1", rows, d, config.lm_head_bias);
    }
  }
  if (config.kind == HeadKind::kSpace && config.mask_rows.empty()) {
    list.add("mask_embeddings", {config.mask_count, d});
    for (const char* name : {"prefix_keys", "prefix_values"})
      list.add_if(config.mask_prefix > 0, name,
                  {config.prefix_layers, config.kv_heads, config.mask_prefix, config.head_dim});
  }
  list.add_if(!config.mask_rows.empty(), "embed_tokens.weight", {config.vocab, d});
  list.add_if(tensors.has("d2t"), "d2t", {rows});
  list.add_if(tensors.has("t2d"), "t2d", {config.vocab});
  return list.take();
}

const char* kind_noun(HeadKind kind) {
  static constexpr const char* kNouns[] = {"Medusa heads",    "Hydra heads", "an EAGLE-1/2 head",
                                           "an EAGLE-3 head", "SPACE masks", "an MTP layer",
                                           "a DFlash head"};
  return kNouns[static_cast<int>(kind)];
}

void check_type(const std::string& name, const SafeTensor& tensor, const std::string& path) {
  const bool is_map = name == "d2t", is_mask = name == "t2d";
  const bool is_float = tensor.dtype == "F64" || tensor.dtype == "F32" || tensor.dtype == "F16" ||
                        tensor.dtype == "BF16";
  const bool fits = is_map ? tensor.dtype == "I64" : is_mask ? tensor.dtype == "BOOL" : is_float;
  if (fits) return;
  throw Error(ErrorCode::kNotSupported, path + ": " + name + ": expected " +
                                            (is_map    ? "I64"
                                             : is_mask ? "BOOL"
                                                       : "F64, F32, F16 or BF16") +
                                            ", found " + tensor.dtype +
                                            "; save the head in one of these types");
}

void check_own(const std::vector<Expected>& list, const HeadConfig& config,
               const NamedTensors& tensors) {
  std::set<std::string> expected_names;
  for (const Expected& expected : list) {
    expected_names.insert(expected.name);
    const SafeTensor& tensor = tensors.at(expected.name);
    if (tensor.shape != expected.shape) {
      throw Error(ErrorCode::kCorruption,
                  tensors.path() + ": " + expected.name + ": expected " +
                      shape_text(expected.shape) +
                      " by the head's other tensors and its config.json, found " +
                      shape_text(tensor.shape) + "; one of them is wrong, fetch both again");
    }
    check_type(expected.name, tensor, tensors.path());
  }
  for (const auto& [name, index] : tensors.names()) {
    if (expected_names.contains(name)) continue;
    throw Error(ErrorCode::kNotSupported, tensors.path() + ": " + kind_noun(config.kind) +
                                              " with a tensor '" + name.substr(0, 200) + "' " +
                                              shape_text(tensors.at(name).shape) +
                                              ", which triescope does not know");
  }
}

[[noreturn]] void wrong_target(const HeadConfig& config, const NamedTensors& tensors,
                               const TargetShape& target, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument,
              tensors.path() + ": " + what + "; it was trained for " +
                  (config.trained_for.empty() ? "another target" : config.trained_for) +
                  " (hidden size " + std::to_string(config.target_hidden) + ", vocabulary " +
                  std::to_string(config.vocab) + "), not for " +
                  (target.name.empty() ? "this one" : target.name) + " (" +
                  std::to_string(target.hidden) + ", " + std::to_string(target.vocab) +
                  "): open that target, or another head");
}

}  // namespace

void check_shapes(const HeadConfig& config, const NamedTensors& tensors,
                  const TargetShape& target) {
  int states = 1;
  if (config.reads_several()) states = tensors.extent("fc.weight", 2, 1) / config.target_hidden;
  const std::vector<Expected> own = expected_tensors(config, tensors, states);
  check_own(own, config, tensors);
  if (target.hidden == 0) return;

  HeadConfig asked = config;
  asked.target_hidden = target.hidden;
  // Kinds other than EAGLE-3 have the target's width throughout, and so do heads that read the
  // target's weights.
  const bool reads_target = !config.own_embedding || !config.own_lm_head || !config.has_fc;
  if (config.kind != HeadKind::kEagle3 || reads_target) asked.hidden = target.hidden;
  if (config.kind == HeadKind::kSpace && target.layers > 0) {
    asked.prefix_layers = target.layers;
    asked.kv_heads = target.kv_heads;
    asked.head_dim = target.head_dim;
  }
  if (target.vocab > 0) {
    asked.vocab = target.vocab;
    if (!tensors.has("d2t")) asked.draft_vocab = target.vocab;
  }
  const std::vector<Expected> wanted = expected_tensors(asked, tensors, states);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].shape == wanted[i].shape) continue;
    wrong_target(config, tensors, target,
                 own[i].name + ": expected " + shape_text(wanted[i].shape) +
                     " for the target, found " + shape_text(own[i].shape));
  }
  if (target.vocab > 0 && config.vocab != target.vocab) {
    wrong_target(config, tensors, target,
                 "config.json: vocab_size: expected " + std::to_string(target.vocab) + ", found " +
                     std::to_string(config.vocab));
  }
}

}  // namespace triescope::formats
