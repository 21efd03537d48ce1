// Hydra: Medusa's heads in sequence. Each head also reads the embeddings of the tokens drafted
// before it, so the tree grows level by level. A transformer layer in front of the heads follows
// the text. Source: Ankner et al., "Hydra: Sequentially-Dependent Draft Heads for Medusa Decoding",
// 2024.
#include "core/methods/text_methods.h"
#include "core/methods/token_heads_drafter.h"

namespace triescope {

MethodInfo hydra_method() {
  MethodInfo info;
  info.name = "hydra";
  info.title = "Hydra";
  info.summary =
      "Medusa's heads in sequence: each also reads the tokens drafted before it, so what it drafts fits "
      "them. A fixed tree grows level by level and is verified in one forward.";
  info.paper =
      "Hydra: Sequentially-Dependent Draft Heads for Medusa Decoding, Ankner et al., COLM 2024";
  drafts_with_token_heads(info, formats::HeadKind::kHydra);
  return info;
}

}  // namespace triescope
