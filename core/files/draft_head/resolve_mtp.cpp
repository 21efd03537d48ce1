// MTP layers. What a block may be is what the transformer here does: attention over heads and a gated MLP. Mixtures of
// experts, latent attention and gated queries are refused by name.
#include <algorithm>

#include "core/files/draft_head/mtp_names.h"
#include "core/files/draft_head/resolver.h"

namespace triescope::formats {

void Resolver::mtp() {
  config.kind = HeadKind::kMtp;
  const std::string what = "an MTP layer with ", sorry = ", which triescope does not decode";
  if (tensors.has_prefix("layers.0.mlp.experts.") || tensors.has("layers.0.mlp.gate.weight"))
    refuse(what + "a mixture of experts (layers.0.mlp.gate.weight)" + sorry +
           "; expected a dense block");
  if (tensors.has("layers.0.self_attn.kv_a_proj_with_mqa.weight"))
    refuse(what + "multi-head latent attention (self_attn.kv_a_proj_with_mqa)" + sorry +
           "; expected q, k and v projections");
  if (tensors.has_prefix("layers.0.linear_attn."))
    refuse(what + "linear attention (layers.0.linear_attn)" + sorry + "; expected self_attn");
  if (tensors.extent("layers.0.self_attn.q_proj.weight", 2, 0) ==
      2 * tensors.extent("layers.0.self_attn.o_proj.weight", 2, 1))
    refuse(what + "gated attention (q_proj has twice o_proj's columns, as in Qwen3-Next and 3.5)" +
           sorry);
  config.hidden = config.target_hidden = tensors.extent("fc.weight", 2, 0);
  config.fc_bias = tensors.has("fc.bias");
  config.layers = 1;
  transformer("layers.0.");
  vocabularies("", "");
  const MtpNames names(tensors.stored());
  config.mtp_layers = std::max(names.layers(), 1);
  config.hidden_first = config.before_final_norm = config.blind_start = names.is_mimo();
  config.norm_output = true;
  if (config.mtp_layers > 1)
    notes.push_back("the file has " + std::to_string(config.mtp_layers) +
                    " MTP layers, one for each depth: the first drafts at every depth");
}

}  // namespace triescope::formats
