// OLMo 2 and 3: norms of what leaves attention and MLP, none of what enters them; q and k
// normalised over all heads at once. OLMo 3 has windows by layer, and its rope scaling is that of
// the layers without one. llama.cpp calls both "olmo2".
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void olmo(ModelConfig& config) {
  config.pre_norms = false;
  config.post_norms = true;
  config.qk_norm = QkNorm::kWhole;
}

void read_olmo_shared(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  config.norm_eps = static_cast<float>(fields.number("rms_norm_eps", 1e-5));
  config.qkv_bias = config.output_bias = fields.boolean("attention_bias", false);
  if (fields.has("clip_qkv")) fields.not_supported("clip_qkv");
  olmo(config);
}

void read_olmo2(const JsonFields& fields, ModelConfig& config) {
  read_olmo_shared(fields, config);
  read_rope_json(fields, config);
}

void read_olmo3(const JsonFields& fields, ModelConfig& config) {
  read_olmo_shared(fields, config);
  read_windows_json(
      fields, config, window_from_json(fields, 4096),
      [](int layer, int) { return (layer + 1) % 4 != 0; }, 0);
  // transformers takes rope_theta for the full layers alone.
  read_ropes_by_window_json(fields, config, fields.number("rope_theta", 500000), 500000);
}

void gguf_olmo2(const GgufFields& fields, ModelConfig& config) {
  olmo(config);
  // The converter writes transformers' attention_factor here, the whole of it.
  RopeConfig& rope = config.ropes[0];
  if (rope.kind == RopeKind::kYarn)
    rope.attention_factor = fields.number("rope.scaling.attn_factor", rope.attention_factor);
  read_windows_gguf(fields, config, 0, 4);
  RopeConfig plain;
  plain.theta = rope.theta;
  plain.dims = rope.dims;
  config.ropes.push_back(plain);
  for (LayerConfig& layer : config.layers) layer.rope = layer.window > 0 ? 1 : 0;
}

}  // namespace

extern const Family kOlmo2, kOlmo3;
const Family kOlmo2 = {"olmo2", {"olmo2"}, read_olmo2, gguf_olmo2, nullptr, nullptr};
const Family kOlmo3 = {"olmo3", {}, read_olmo3, nullptr, nullptr, nullptr};

}  // namespace triescope::formats
