// Hydra: Medusa's heads in sequence. Each head also reads the embeddings of the tokens drafted
// before it, so the tree grows level by level. A transformer layer in front of the heads follows
// the text. Source: Ankner et al., "Hydra: Sequentially-Dependent Draft Heads for Medusa Decoding",
// 2024.
#include "core/methods/rank_tree.h"
#include "core/methods/text_methods.h"
#include "core/methods/token_heads_drafter.h"
#include "core/verify/text_acceptor.h"

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
  info.lossless = true;
  info.kind = capture::RunKind::kDrafts;
  info.drafter_name = "hydra";
  info.drafter_kind = capture::DrafterKind::kHead;
  info.needs = Need::kDraftHead;
  info.heads = {formats::HeadKind::kHydra};
  info.parameters = {tree_parameter("0;0,0;1;0,1;2;0,0,0;…")};
  for (auto& p : verify_parameters()) info.parameters.push_back(std::move(p));
  info.make = [](const RunContext& run) {
    return MethodParts{make_token_heads_drafter(run, kMedusaTree),
                       std::make_unique<TextAcceptor>(run, deterministic_rule(run.settings))};
  };
  return info;
}

}  // namespace triescope
