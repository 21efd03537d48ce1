// EAGLE-2: EAGLE's layer with a dynamic tree. Source: Li et al., "EAGLE-2: Faster Inference of
// Language Models with Dynamic Draft Trees", 2024.
#include "core/methods/drafts_one_text.h"
#include "core/methods/dynamic_tree.h"
#include "core/methods/text_methods.h"
#include "core/model/heads/draft_head.h"

namespace triescope {

MethodInfo eagle2_method() {
  MethodInfo info;
  info.name = "eagle2";
  info.title = "EAGLE-2";
  info.summary =
      "EAGLE's layer with a tree that grows where it is sure: each level keeps its best drafts by "
      "cumulative probability, and of all proposals the best are verified, the others withdrawn.";
  info.paper =
      "EAGLE-2: Faster Inference of Language Models with Dynamic Draft Trees, Li et al., EMNLP 2024";
  info.drafter_name = "eagle2";
  info.drafter_kind = capture::DrafterKind::kHead;
  info.needs = Need::kDraftHead;
  info.heads = {formats::HeadKind::kEagle};
  info.parameters = dynamic_tree_parameters();
  drafts_one_text(info, [](const RunContext& run) {
    return make_dynamic_tree_drafter(run, run.draft_head->feature_layers(),
                                     "was the head trained for this model?");
  });
  return info;
}

}  // namespace triescope
