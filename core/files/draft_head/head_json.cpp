#include "core/files/draft_head/head_json.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/files/json.h"

namespace triescope::formats {
namespace {

// Keys that are read, that only repeat what the tensors say, or that do not matter for decoding.
constexpr std::string_view kKnown[] = {
    "architectures", "model_type", "auto_map", "torch_dtype", "dtype", "transformers_version",
    "use_cache", "bos_token_id", "eos_token_id", "pad_token_id", "initializer_range",
    "attention_dropout", "pretraining_tp", "_name_or_path", "name_or_path", "id2label", "label2id",
    "max_window_layers", "rope_interleaved",
    // the transformer layer
    "hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "head_dim",
    "num_hidden_layers", "hidden_act", "rms_norm_eps", "rope_theta", "rope_scaling",
    "rope_parameters", "max_position_embeddings", "original_max_position_embeddings",
    "partial_rotary_factor", "vocab_size", "tie_word_embeddings", "attention_bias", "qkv_bias",
    "mlp_bias", "bias", "sliding_window", "use_sliding_window", "layer_types",
    // EAGLE
    "eagle_fc_bias", "model", "truncated_vocab_size", "logit_scale", "draft_vocab_size",
    "target_hidden_size", "eagle_config", "eagle_aux_hidden_state_layer_ids",
    "aux_hidden_state_layer_ids", "use_aux_hidden_state", "norm_before_residual", "norm_before_fc",
    "fc_norm", "norm_output", "embed_requires_grad", "parallel_drafting",
    // speculators
    "speculators_config", "speculators_model_type", "speculators_version",
    "transformer_layer_config", "transformer_layer_architecture", "fusion_bias", "layernorms",
    "has_no_defaults_at_init",
    // Medusa, Hydra
    "base_model_name_or_path", "medusa_num_heads", "medusa_num_layers", "medusa_fc_bias",
    "original_lm_head", "num_heads", "version", "max_paths", "topk", "max_seq_len",
    "hydra_num_heads", "hydra_num_layers", "hydra_head_arch", "grounded_heads",
    "hidden_state_offset", "dropout_rate",
    // any head with a static tree; a key of triescope's own
    "draft_tree",
    // DFlash, MTP
    "dflash_config", "block_size", "mask_token_id", "target_layer_ids", "num_nextn_predict_layers",
    "num_target_layers",
    // SPACE's masks; triescope's own
    "space_num_masks", "space_prefix_length", "space_mask_ids"};

bool is_known(std::string_view key) {
  return std::find(std::begin(kKnown), std::end(kKnown), key) != std::end(kKnown);
}

bool says_nothing(const nlohmann::json& value) {
  return value.is_null() || value == false || value == 0 ||
         ((value.is_object() || value.is_array()) && value.empty());
}

const nlohmann::json* object_in(const nlohmann::json& parent, const char* key) {
  const auto found = parent.find(key);
  return found == parent.end() || !found->is_object() ? nullptr : &*found;
}

}  // namespace

HeadJson::HeadJson(std::string_view text, std::string path)
    : root_(nlohmann::json::object()), path_(std::move(path)), is_there_(!text.empty()) {
  if (is_there_) root_ = parse_json(text, path_);
  if (!root_.is_object()) throw Error(ErrorCode::kCorruption, path_ + ": expected a JSON object");
  layer_ = root_;
  for (const char* nested : {"transformer_layer_config", "model"})
    if (const nlohmann::json* found = object_in(root_, nested)) layer_ = *found;
}

bool HeadJson::is_speculators() const { return root_.contains("speculators_model_type"); }

RopeConfig HeadJson::rope(int head_dim, int context, std::vector<std::string>& notes) const {
  ModelConfig config;
  config.head_dim = head_dim;
  config.context = context;
  read_rope_json(layer(), config);
  notes.insert(notes.end(), config.notes.begin(), config.notes.end());
  return config.ropes[0];
}

std::vector<int> HeadJson::feature_layers(std::string& from) const {
  const nlohmann::json* eagle = object_in(root_, "eagle_config");
  const nlohmann::json* dflash = object_in(root_, "dflash_config");
  for (const char* key :
       {"eagle_aux_hidden_state_layer_ids", "aux_hidden_state_layer_ids", "target_layer_ids"}) {
    for (const nlohmann::json* object : {eagle, dflash, &root_}) {
      if (object == nullptr) continue;
      const JsonFields fields(*object, path_);
      if (!fields.has(key)) continue;
      from = (object == &root_  ? ""
              : object == eagle ? "eagle_config."
                                : "dflash_config.") +
             std::string(key);
      std::vector<int> layers;
      for (const std::int64_t layer : fields.integers(key)) {
        if (layer < 0 || layer > INT32_MAX)
          fields.corrupt(key, "layers of the target, each 0 or more");
        layers.push_back(static_cast<int>(layer));
      }
      return layers;
    }
  }
  return {};
}

std::string HeadJson::trained_for() const {
  std::string name = fields().text("base_model_name_or_path", "");
  if (const nlohmann::json* speculators = object_in(root_, "speculators_config"))
    if (const nlohmann::json* verifier = object_in(*speculators, "verifier"))
      name = JsonFields(*verifier, path_).text("name_or_path", name);
  return name.substr(0, 200);
}

std::vector<std::string> HeadJson::unknown_settings() const {
  std::vector<std::string> notes;
  const nlohmann::json none = nlohmann::json::object();
  const nlohmann::json* eagle = object_in(root_, "eagle_config");
  const std::array<const nlohmann::json*, 3> objects = {&root_, layer_ == root_ ? &none : &layer_,
                                                        eagle == nullptr ? &none : eagle};
  for (const nlohmann::json* object : objects) {
    for (const auto& [key, value] : object->items()) {
      if (is_known(key) || says_nothing(value)) continue;
      if (notes.size() == 16) return notes;
      notes.push_back("config.json: '" + key.substr(0, 80) + "' is not known and has no effect");
    }
  }
  return notes;
}

}  // namespace triescope::formats
