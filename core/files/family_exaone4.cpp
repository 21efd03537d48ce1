// EXAONE 4: norms of what leaves attention and MLP, none of what enters them; a norm on every head's
// q and k. Where some layers have a window, the others have no rotary positions.
#include <algorithm>

#include "core/files/family.h"

namespace triescope::formats {
namespace {

void exaone(ModelConfig& config) {
  config.pre_norms = false;
  config.post_norms = true;
  config.qk_norm = QkNorm::kHeads;
}

void read_exaone4(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  config.norm_eps = static_cast<float>(fields.number("rms_norm_eps", 1e-5));
  if (!fields.has("num_key_value_heads")) config.kv_heads = 32;
  const int window = window_from_json(fields, 4096);
  if (!fields.has("layer_types") && window == 0)
    fields.corrupt("layer_types", "one entry a layer, where sliding_window is null");
  // A pattern as letters ("LLLG") comes with layer_types, which say the same.
  const int pattern = fields.has("layer_types") ? 4 : fields.integer("sliding_window_pattern", 4);
  if (pattern < 1) fields.corrupt("sliding_window_pattern", "1 or more");
  read_windows_json(
      fields, config, window, [](int layer, int every) { return (layer + 1) % every != 0; },
      pattern);
  read_rope_json(fields, config);
  if (window > 0) leave_full_layers_without_rope(config);
  exaone(config);
}

void gguf_exaone4(const GgufFields& fields, ModelConfig& config) {
  read_windows_gguf(fields, config, 0, 4);
  const auto slides = [](const LayerConfig& layer) { return layer.window > 0; };
  if (std::any_of(config.layers.begin(), config.layers.end(), slides))
    leave_full_layers_without_rope(config);
  exaone(config);
}

}  // namespace

extern const Family kExaone4;
const Family kExaone4 = {"exaone4", {"exaone4"}, read_exaone4, gguf_exaone4, nullptr, nullptr};

}  // namespace triescope::formats
