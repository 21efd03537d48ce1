// Medusa: heads beside the output head draft the tokens after the next one. Each head drafts for
// its own distance, all from the same state, and a static tree of their best tokens is verified in
// one forward. Source: Cai et al., "Medusa: Simple LLM Inference Acceleration Framework with
// Multiple Decoding Heads", 2024.
#include "core/methods/rank_tree.h"
#include "core/methods/text_methods.h"
#include "core/methods/token_heads_drafter.h"
#include "core/verify/text_acceptor.h"

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
  info.lossless = true;
  info.kind = capture::RunKind::kDrafts;
  info.drafter_name = "medusa";
  info.drafter_kind = capture::DrafterKind::kHead;
  info.needs = Need::kDraftHead;
  info.heads = {formats::HeadKind::kMedusa};
  info.parameters = {tree_parameter("0;0,0;1;0,1;2;0,0,0;…")};
  for (auto& p : verify_parameters()) info.parameters.push_back(std::move(p));
  info.make = [](const RunContext& run) {
    return MethodParts{make_token_heads_drafter(run, kMedusaTree),
                       std::make_unique<TextAcceptor>(run, deterministic_rule(run.settings))};
  };
  return info;
}

}  // namespace triescope
