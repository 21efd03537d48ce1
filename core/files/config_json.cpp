#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "core/files/family.h"
#include "core/files/json.h"
#include "core/files/model_name.h"
#include "core/files/quantised/quantisation.h"
#include "core/files/safetensors.h"
#include "core/files/unread_family.h"

namespace triescope::formats {
namespace {

namespace fs = std::filesystem;

void read_common(const JsonFields& fields, ModelConfig& config) {
  config.hidden = fields.integer("hidden_size");
  config.heads = fields.integer("num_attention_heads");
  config.kv_heads = fields.integer("num_key_value_heads", config.heads);
  if (config.heads < 1 || config.hidden < 1)
    fields.corrupt("num_attention_heads", "1 or more, and a hidden_size");
  config.head_dim = fields.integer("head_dim", config.hidden / config.heads);
  if (!fields.has("head_dim") && config.hidden % config.heads != 0) {
    fields.corrupt("hidden_size",
                   "a multiple of num_attention_heads = " + std::to_string(config.heads));
  }
  config.intermediate = fields.integer("intermediate_size");
  config.vocab_size = fields.integer("vocab_size");
  config.context = fields.integer("max_position_embeddings", 2048);
  const int layers = fields.integer("num_hidden_layers");
  if (layers < 1 || layers > 1024) fields.corrupt("num_hidden_layers", "1 to 1024");
  config.layers.assign(static_cast<std::size_t>(layers), {});
  config.norm_eps = static_cast<float>(fields.number("rms_norm_eps", 1e-6));
  config.attention_scale = 1.0f / std::sqrt(static_cast<float>(std::max(config.head_dim, 1)));
}

// The ids of a special token that the vocabulary has. -1 and 2^32 - 1 are written for "none"; a
// token beyond the vocabulary can never occur, which is worth a note.
std::vector<std::int32_t> special_ids(const JsonFields& fields, const char* key,
                                      ModelConfig& config) {
  std::vector<std::int32_t> ids;
  for (const std::int64_t id : fields.integers(key)) {
    if (id < -1) fields.corrupt(key, "token ids, or -1 for none");
    if (id >= 0 && id < config.vocab_size) {
      ids.push_back(static_cast<std::int32_t>(id));
    } else if (id >= 0 && id != 0xffffffff) {
      config.notes.push_back(fs::path(fields.path()).filename().string() + ": " + key + " " +
                             std::to_string(id) + " is outside the vocabulary of " +
                             std::to_string(config.vocab_size) +
                             " tokens: it cannot come, and is left out");
    }
  }
  return ids;
}

const Family& family_named(const std::string& type, const JsonFields& fields) {
  for (const Family* known : all_families())
    if (type == known->model_type) return *known;
  refuse_unread_family(fields, type);
}

ModelConfig config_of(const JsonFields& fields, const std::string& path) {
  ModelConfig config;
  config.family = fields.text("model_type");
  const Family& family = family_named(config.family, fields);
  if (!family.reads_mxfp4 || !is_mxfp4(fields))
    quantisation_of(fields);  // refuses what is not read
  if (family.text_part != nullptr) {
    nlohmann::json text = fields.object(family.text_part).raw();
    // The whole model has the last word on what both describe.
    text["tie_word_embeddings"] = fields.boolean("tie_word_embeddings", true);
    for (const char* key : {"eos_token_id", "bos_token_id"})
      if (fields.has(key)) text[key] = fields.raw()[key];
    if (!text.contains("model_type")) text["model_type"] = family.text_family;
    return config_of(JsonFields(text, path), path);
  }
  if (!family.names_own_sizes) read_common(fields, config);
  config.tied_embeddings = fields.boolean("tie_word_embeddings", false);
  config.eos_token_ids = special_ids(fields, "eos_token_id", config);
  const std::vector<std::int32_t> bos = special_ids(fields, "bos_token_id", config);
  if (!bos.empty()) config.bos_token_id = bos[0];
  family.read_json(fields, config);
  return config;
}

}  // namespace

ModelConfig config_from_folder(const std::string& folder) {
  std::error_code ignored;
  if (!fs::exists(fs::path(folder) / "config.json", ignored)) {
    throw Error(ErrorCode::kNotFound,
                folder + ": expected a Hugging Face model folder with config.json, found none");
  }
  const std::string path = path_in_folder(folder, "config.json");
  std::string generation;
  if (fs::exists(fs::path(folder) / "generation_config.json", ignored)) {
    generation = InputFile(path_in_folder(folder, "generation_config.json")).text(kMaxConfigBytes);
  }
  ModelConfig config = config_from_json(InputFile(path).text(kMaxConfigBytes), generation, path);
  config.name = folder_model_name(folder);
  return config;
}

ModelConfig config_from_json(std::string_view config_text, std::string_view generation_text,
                             const std::string& path) {
  const nlohmann::json json = parse_json(config_text, path);
  if (!json.is_object()) throw Error(ErrorCode::kCorruption, path + ": expected a JSON object");
  ModelConfig config = config_of(JsonFields(json, path), path);

  // generate() stops at these tokens: generation_config.json has the last word.
  if (!generation_text.empty()) {
    const std::string generation_path =
        (fs::path(path).parent_path() / "generation_config.json").string();
    const nlohmann::json generation = parse_json(generation_text, generation_path);
    if (!generation.is_object())
      throw Error(ErrorCode::kCorruption, generation_path + ": expected a JSON object");
    const JsonFields generation_fields(generation, generation_path);
    if (generation_fields.has("eos_token_id"))
      config.eos_token_ids = special_ids(generation_fields, "eos_token_id", config);
    config.generation = read_generation(generation_fields);
  }
  validate(config, path);
  return config;
}

int window_from_json(const JsonFields& fields, int absent) {
  return fields.integer("sliding_window", fields.raw().contains("sliding_window") ? 0 : absent);
}

void read_windows_json(const JsonFields& fields, ModelConfig& config, int window,
                       bool (*is_sliding)(int layer, int parameter), int parameter) {
  std::vector<std::string> types;
  if (fields.has("layer_types")) {
    types = fields.texts("layer_types");
    if (types.size() != config.layers.size()) fields.corrupt("layer_types", "one entry a layer");
  }
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    bool sliding = is_sliding(static_cast<int>(i), parameter);
    if (!types.empty()) {
      sliding = types[i] == "sliding_attention";
      if (!sliding && types[i] != "full_attention")
        fields.not_supported("layer type '" + types[i].substr(0, 40) + "'");
    }
    if (sliding && window < 1)
      fields.corrupt("sliding_window", "a window of 1 or more for its sliding layers");
    config.layers[i].window = sliding ? window : 0;
  }
}

void read_layer_norm_json(const JsonFields& fields, ModelConfig& config, const char* key) {
  config.norm = NormKind::kLayer;
  config.norm_eps = static_cast<float>(fields.number(key, 1e-5));
}

std::optional<WeightSlice> fused_gate_up(const ModelConfig& config, const Part& part) {
  if (part.role != Role::kGate && part.role != Role::kUp) return std::nullopt;
  return WeightSlice{"model.layers." + std::to_string(part.layer) + ".mlp.gate_up_proj.weight",
                     part.role == Role::kGate ? 0 : config.intermediate};
}

Activation activation_from_json(const JsonFields& fields, const char* key, const char* fallback) {
  const std::string name = fields.text(key, fallback);
  if (name == "silu" || name == "swish") return Activation::kSilu;
  if (name == "gelu_pytorch_tanh" || name == "gelu_new" || name == "gelu_fast")
    return Activation::kGeluTanh;
  if (name == "gelu") return Activation::kGelu;
  fields.not_supported(
      std::string(key) + " '" + name.substr(0, 40) +
      "' (silu, swish, gelu, gelu_new, gelu_fast and gelu_pytorch_tanh are read; choose "
      "a model that has one of them)");
}

}  // namespace triescope::formats
