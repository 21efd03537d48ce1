// Mistral is Llama with a sliding window in every layer, Ministral with one in the layers that
// layer_types names.
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void read_mistral_shared(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  read_rope_json(fields, config);
}

void read_mistral(const JsonFields& fields, ModelConfig& config) {
  read_mistral_shared(fields, config);
  if (fields.has("layer_types"))
    fields.not_supported("layer_types in a mistral config (ministral has it)");
  const int window =
      fields.integer("sliding_window", fields.raw().contains("sliding_window") ? 0 : 4096);
  for (LayerConfig& layer : config.layers) layer.window = window;
}

void read_ministral(const JsonFields& fields, ModelConfig& config) {
  read_mistral_shared(fields, config);
  const int window =
      fields.integer("sliding_window", fields.raw().contains("sliding_window") ? 0 : 4096);
  read_windows_json(
      fields, config, window, [](int, int given) { return given > 0; }, window);
}

void gguf_mistral(const GgufFields& fields, ModelConfig& config) {
  config.permuted_qk = true;
  read_windows_gguf(fields, config, 0, 0);
}

}  // namespace

extern const Family kMistral, kMinistral;
const Family kMistral = {"mistral", {"mistral"}, read_mistral, gguf_mistral, nullptr, nullptr};
const Family kMinistral = {"ministral", {}, read_ministral, nullptr, nullptr, nullptr};

}  // namespace triescope::formats
