#include "core/files/unread_family.h"

#include <algorithm>

#include "core/base/error.h"

namespace triescope::formats {
namespace {

constexpr const char* kState =
    "it has layers with a recurrent or convolution state of a kind that is not read";
constexpr const char* kLatent =
    "it keeps keys and values compressed (multi-head latent attention), which is not read";
constexpr const char* kMixture = "its router of experts is not one of those that are read";
constexpr const char* kEncoderDecoder =
    "it is an encoder-decoder, and triescope runs models that have a decoder alone";
constexpr const char* kEncoder = "it reads a text and does not write one";

const Family* family_called(const std::string& model_type) {
  const auto& all = all_families();
  const auto found = std::ranges::find_if(
      all, [&](const Family* known) { return model_type == known->model_type; });
  return found == all.end() ? nullptr : *found;
}

bool has_any(const JsonFields& fields, std::initializer_list<const char*> keys) {
  return std::ranges::any_of(keys, [&](const char* key) { return fields.has(key); });
}

bool has_layers_with_state(const JsonFields& fields) {
  if (has_any(fields, {"state_size", "ssm_cfg", "ssm_state_size", "mamba_d_state", "conv_L_cache",
                       "lru_width", "linear_num_value_heads", "attention_hidden_size"}))
    return true;
  const nlohmann::json& raw = fields.raw();
  if (!fields.has("layer_types") || !raw["layer_types"].is_array()) return false;
  return std::ranges::any_of(raw["layer_types"], [](const nlohmann::json& type) {
    return type == "linear_attention" || type == "conv" || type == "mamba" || type == "recurrent";
  });
}

// The configuration of the part that reads text in a model that also reads something else.
std::optional<JsonFields> text_part_of(const JsonFields& fields) {
  for (const char* key : {"text_config", "language_config", "llm_config", "thinker_config"})
    if (fields.has(key) && fields.raw()[key].is_object()) return fields.object(key);
  return std::nullopt;
}

std::string reason_of(const JsonFields& fields);

std::string about_text_part(const JsonFields& text) {
  std::string type;
  if (text.has("model_type") && text.raw()["model_type"].is_string())
    type = text.text("model_type").substr(0, 80);
  const Family* family = family_called(type);
  if (family == nullptr || family->gguf_names.empty()) {
    const std::string reason = reason_of(text);
    return "it is more than a text model, and its text part" +
           (type.empty() ? std::string() : " ('" + type + "')") + " is not read either" +
           (reason.empty() ? "" : ": " + reason);
  }
  return "it is more than a text model; convert its text part ('" + type +
         "', which is read) to GGUF (llama.cpp: convert_hf_to_gguf.py) and open that";
}

bool is_encoder(const JsonFields& fields) {
  if (!fields.has("architectures") || !fields.raw()["architectures"].is_array()) return false;
  const nlohmann::json& names = fields.raw()["architectures"];
  return !names.empty() && std::ranges::all_of(names, [](const nlohmann::json& name) {
    if (!name.is_string()) return false;
    const auto text = name.get<std::string>();
    return text.ends_with("ForMaskedLM") || text.ends_with("ForPreTraining") ||
           text.ends_with("Classification") || text.ends_with("ForQuestionAnswering");
  });
}

std::string reason_of(const JsonFields& fields) {
  if (has_any(fields, {"encoder_layers", "num_encoder_layers", "num_decoder_layers"}) ||
      (fields.has("is_encoder_decoder") && fields.raw()["is_encoder_decoder"] == true))
    return kEncoderDecoder;
  if (const auto text = text_part_of(fields)) return about_text_part(*text);
  if (has_layers_with_state(fields)) return kState;
  if (fields.has("kv_lora_rank")) return kLatent;
  if (has_any(fields, {"n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"}))
    return kMixture;
  return is_encoder(fields) ? kEncoder : "";
}

std::string reason_of(const GgufFile& file, const std::string& architecture) {
  if (architecture == "clip")
    return "it is the part of a model that reads pictures or sound (mmproj); open the file of its "
           "text part";
  if (architecture.starts_with("t5")) return kEncoderDecoder;
  const auto has = [&](const char* key) { return file.has(architecture + "." + key); };
  if (has("ssm.state_size") || has("wkv.head_size") || has("shortconv.l_cache")) return kState;
  if (has("attention.kv_lora_rank")) return kLatent;
  if (file.number(architecture + ".expert_count").value_or(0) > 0) return kMixture;
  if (!file.boolean(architecture + ".attention.causal").value_or(true)) return kEncoder;
  return "";
}

[[noreturn]] void refuse(const std::string& what, const std::string& reason,
                         const std::string& names) {
  throw Error(ErrorCode::kNotSupported, what + " is not supported" +
                                            (reason.empty() ? "" : ": " + reason) +
                                            "; expected one of " + names);
}

}  // namespace

void refuse_unread_family(const JsonFields& config, const std::string& model_type) {
  std::string names;
  for (const Family* known : all_families())
    names += (names.empty() ? "" : ", ") + std::string(known->model_type);
  refuse(config.path() + ": model family '" + model_type.substr(0, 80) + "'", reason_of(config),
         names);
}

void refuse_unread_architecture(const GgufFile& file, const std::string& architecture) {
  std::string names;
  for (const Family* known : all_families())
    for (const std::string_view name : known->gguf_names)
      names += (names.empty() ? "" : ", ") + std::string(name);
  refuse(file.path() + ": GGUF architecture '" + architecture.substr(0, 80) + "'",
         reason_of(file, architecture), names);
}

}  // namespace triescope::formats
