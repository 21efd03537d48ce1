// Medusa: heads beside the output head draft the tokens after the next one. Each head drafts for
// its own distance, all from the same state, and a static tree of their best tokens is verified in
// one forward. Source: Cai et al., "Medusa: Simple LLM Inference Acceleration Framework with
// Multiple Decoding Heads", 2024.
#include "core/methods/text_methods.h"
#include "core/methods/token_heads_drafter.h"

namespace triescope {

MethodInfo medusa_method() {
  MethodInfo info;
  info.name = "medusa";
  info.title = "Medusa";
  info.summary =
      "Small heads beside the model's own draft the tokens after the next, each for one distance, from "
      "the same hidden state. A fixed tree of their best tokens is verified in one forward.";
  info.paper =
      "Medusa: Simple LLM Inference Acceleration Framework with Multiple Decoding Heads, Cai et al., "
      "ICML 2024";
  drafts_with_token_heads(info, formats::HeadKind::kMedusa);
  return info;
}

}  // namespace triescope
