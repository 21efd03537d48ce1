// Speculative decoding with a draft model: a second, smaller model writes a few tokens ahead, as a
// chain or as a tree, and the target checks them all in one forward. Source: Leviathan, Kalman,
// Matias, "Fast Inference from Transformers via Speculative Decoding", 2023; Chen et al.,
// "Accelerating Large Language Model Decoding with Speculative Sampling", 2023 (chains); Miao et
// al., "SpecInfer", 2024 (trees by an expansion configuration); Jeon et al., "Recursive Speculative
// Decoding", 2024 (draws without replacement).
#include "core/methods/draft_model_drafter.h"
#include "core/methods/text_methods.h"
#include "core/verify/text_acceptor.h"

namespace triescope {

MethodInfo draft_model_method() {
  MethodInfo info;
  info.name = "draft_model";
  info.title = "Draft-model speculation";
  info.summary =
      "A second, smaller model with the same vocabulary writes a few tokens ahead, as a "
      "chain or as a tree, and one forward checks them all. Pays where it is several "
      "times faster and mostly right.";
  info.paper =
      "Fast Inference from Transformers via Speculative Decoding, Leviathan, Kalman, "
      "Matias, ICML 2023; trees: SpecInfer, Miao et al., ASPLOS 2024";
  info.kind = capture::RunKind::kDrafts;
  info.drafter_name = "draft model";
  info.drafter_title = "Draft model";
  info.drafter_kind = capture::DrafterKind::kModel;
  info.needs = Need::kDraftModel;
  info.parameters = draft_model_parameters();
  info.make = [](const RunContext& run) {
    return MethodParts{make_draft_model_drafter(run, *run.draft_model),
                       std::make_unique<TextAcceptor>(run, draft_model_rule(run.settings))};
  };
  return info;
}

}  // namespace triescope
