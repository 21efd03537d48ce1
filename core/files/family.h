// A family: how its config.json and its GGUF metadata are read, and the names of its tensors where
// they differ from Llama's. To add a Llama-like family, write a file family_<name>.cpp that fills a
// Family, and a line in all_families().
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/config.h"
#include "core/files/weight_names.h"

namespace triescope::formats {

// Typed access to a JSON object; null counts as absent. Errors name the file and the key.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string path)
      : object_(object), path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  bool has(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }
  int integer(const char* key, std::optional<int> fallback = {}) const;  // 0 to 2^30
  double number(const char* key, std::optional<double> fallback = {}) const;
  bool boolean(const char* key, bool fallback) const;
  std::string text(const char* key, std::optional<std::string> fallback = {}) const;
  std::vector<double> numbers(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  // An integer or a list of at most 65536; absent: empty.
  std::vector<std::int64_t> integers(const char* key) const;
  JsonFields object(const char* key) const;
  const nlohmann::json& raw() const { return object_; }

  [[noreturn]] void not_supported(const std::string& what) const;
  [[noreturn]] void corrupt(const std::string& key, const std::string& expected) const;

 private:
  const nlohmann::json* find(const char* key) const;

  const nlohmann::json& object_;
  std::string path_;
};

// The keys of GGUF metadata below "<architecture>.".
class GgufFields {
 public:
  GgufFields(const GgufFile& file, std::string architecture)
      : file_(file), prefix_(std::move(architecture) + ".") {}

  const GgufFile& file() const { return file_; }
  bool has(const std::string& key) const { return file_.has(prefix_ + key); }
  bool is_array(const std::string& key) const { return file_.is_array(prefix_ + key); }
  std::vector<std::int64_t> integers(const std::string& key) const;  // booleans count as 0 and 1
  int integer(const std::string& key, std::optional<int> fallback = {}) const;
  // A number for each of so many layers: a list, or one for all. Error{kCorruption}: a list of another length, or a number outside 0 to 2^30.
  std::vector<int> by_layer(const std::string& key, std::size_t layers) const;
  double number(const std::string& key, std::optional<double> fallback = {}) const;
  bool boolean(const std::string& key, bool fallback) const {
    return file_.boolean(prefix_ + key).value_or(fallback);
  }
  std::optional<std::string> text(const std::string& key) const {
    return file_.text(prefix_ + key);
  }

  [[noreturn]] void not_supported(const std::string& what) const;

 private:
  const GgufFile& file_;
  std::string prefix_;
};

struct Family {
  const char* model_type;                    // as in config.json
  std::vector<std::string_view> gguf_names;  // general.architecture
  // Called after the fields that all families share were read.
  void (*read_json)(const JsonFields&, ModelConfig&);
  void (*read_gguf)(const GgufFields&, ModelConfig&);
  // Returns nullopt where the weight is as in Llama. May be null.
  std::optional<WeightSlice> (*json_weight)(const ModelConfig&, const Part&);
  std::optional<WeightSlice> (*gguf_weight)(const ModelConfig&, const Part&);
  // GGUF's keys for scales that read_gguf reads; a file with another is refused.
  std::vector<std::string_view> gguf_scales = {};
  // Of a family that also sees pictures: the key of config.json that holds its text part's own
  // config.json, and that part's family where it does not say. Null: the file is the text part's.
  const char* text_part = nullptr;
  const char* text_family = nullptr;
  // Its experts may be MXFP4 in safetensors (ModelConfig::mxfp4_experts).
  bool reads_mxfp4 = false;
  // GGUF's head_count_kv and feed_forward_length may be lists with one number a layer.
  bool layers_differ = false;
  // config.json names its sizes by keys of its own (n_embd), all of which read_json reads.
  bool names_own_sizes = false;
  // Trained in bf16, its activations exceed fp16's range (65504).
  bool overflows_f16 = false;
};

const std::vector<const Family*>& all_families();
// The family of config.family. Error{kNotSupported}.
const Family& family_of(const ModelConfig& config);

// Several families use the following.
// Which part of a head is rotated: in most families the whole one. transformers reads
// partial_rotary_factor for them too, but its default rope rotates whole heads all the same; it cannot
// run another rope type with it.
enum class RotaryPart : std::uint8_t { kWholeHead, kByFactor };
// `default_partial`: the family rotates a part of a head, this one where the file says nothing;
// nullopt: whole heads.
void read_rope_json(const JsonFields& fields, ModelConfig& config, double default_theta = 10000,
                    std::optional<double> default_partial = {});
// Rope 0 for the layers that see everything and rope 1 for those with a window, which must be known:
// those of rope_parameters by layer type, else `full` with the scaling of rope_scaling and `sliding`
// without.
void read_ropes_by_window_json(const JsonFields& fields, ModelConfig& config, double full,
                               double sliding);
// Layers without a window have no rotary positions.
void leave_full_layers_without_rope(ModelConfig& config);
// Layer norms, and their epsilon.
void read_layer_norm_json(const JsonFields& fields, ModelConfig& config, const char* key);
// `factor`: the partial_rotary_factor where the settings have none. head_dim: of the layers that it
// rotates, 0 = the model's.
RopeConfig rope_from_json(const JsonFields& rope, double default_theta, double factor,
                          ModelConfig& config, std::optional<int> original_context,
                          RotaryPart part = RotaryPart::kWholeHead, int head_dim = 0);
// Gives all layers the experts that config.json names: their number is `count_key` or, as newer
// transformers writes it for some families, num_local_experts; `default_used` of them serve a row.
void read_experts_json(const JsonFields& fields, ModelConfig& config, const char* count_key,
                       int default_count, int default_used);
// The keys expert_* of a GGUF, in the layers that have a router. `normalise`: whether llama.cpp
// divides this architecture's weights by their sum where the file does not say. `sigmoid`: its scores
// are sigmoids, and its experts may have a selection bias.
void read_experts_gguf(const GgufFields& fields, ModelConfig& config, bool normalise,
                       bool sigmoid = false);
// config.json's sliding_window; 0 where it is null, `absent` where it is not there.
int window_from_json(const JsonFields& fields, int absent);
// The layers that have a sliding window: those of config.json's layer_types ("full_attention" /
// "sliding_attention"), else those for which is_sliding is true.
void read_windows_json(const JsonFields& fields, ModelConfig& config, int window,
                       bool (*is_sliding)(int layer, int parameter), int parameter);
// The window attention.sliding_window of a GGUF, in all layers but every `period`-th (period 0: in
// all). attention.sliding_window_pattern overrides the period: it is another, or a list of one
// boolean a layer.
void read_windows_gguf(const GgufFields& fields, ModelConfig& config, int default_window,
                       int period);
// Reads the object of generation_config.json.
GenerationSettings read_generation(const JsonFields& fields);
// Gate and up as halves of "mlp.gate_up_proj.weight"; nullopt for other weights.
std::optional<WeightSlice> fused_gate_up(const ModelConfig& config, const Part& part);
// A matrix of an expert, where a tensor holds gate and up of every expert, as halves, and another one down.
WeightSlice stacked_expert(const ModelConfig& config, const Part& part, std::string gate_up,
                           std::string down);
Activation activation_from_json(const JsonFields& fields, const char* key, const char* fallback);

}  // namespace triescope::formats
