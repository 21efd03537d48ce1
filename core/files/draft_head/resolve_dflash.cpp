// DFlash. The configuration says what no shape does: how long a block is, which token the mask is, and whose outputs
// enter fc.
#include "core/files/draft_head/indexed_name.h"
#include "core/files/draft_head/resolver.h"

namespace triescope::formats {

void Resolver::dflash() {
  config.kind = HeadKind::kDFlash;
  config.hidden = tensors.extent("hidden_norm.weight", 1, 0);
  config.fc_bias = tensors.has("fc.bias");
  config.layers = index_count(tensors.names(), "layers.");
  transformer("layers.0.");
  compare(json.layer(), "num_hidden_layers", config.layers, "layers");
  vocabularies("embed_tokens.weight", "lm_head.weight");
  std::string from;
  const auto states = static_cast<int>(json.feature_layers(from).size());
  const int width = tensors.extent("fc.weight", 2, 1);
  if (states == 0)
    corrupt(
        "config.json: expected target_layer_ids, the layers whose outputs fc.weight reads; found none. Fetch "
        "the head's own config.json");
  // Without an embedding of its own it is as wide as the target.
  if (width % states != 0 || (!config.own_embedding && width / states != config.hidden))
    corrupt("config.json: " + from + ": expected as many layers as fc.weight [" +
            std::to_string(config.hidden) + ", " + std::to_string(width) + "] has states; found " +
            std::to_string(states));
  config.target_hidden = width / states;
  const JsonFields fields = json.fields();
  const JsonFields own = fields.has("dflash_config") ? fields.object("dflash_config") : fields;
  config.block_size =
      fields.has("block_size") ? fields.integer("block_size") : own.integer("block_size");
  config.mask_token =
      fields.has("mask_token_id") ? fields.integer("mask_token_id") : own.integer("mask_token_id");
}

}  // namespace triescope::formats
