// EAGLE-1: one decoder layer drafts the target's next hidden state from the token's embedding and
// the hidden state before it. The target's own output head turns that state into tokens; the tree
// is static. Source: Li et al., "EAGLE: Speculative Sampling Requires Rethinking Feature
// Uncertainty", 2024.
#include <algorithm>

#include "core/methods/best_draft_watch.h"
#include "core/methods/drafts_one_text.h"
#include "core/methods/head_runner.h"
#include "core/methods/rank_tree.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

// EAGLE's published tree "mc_sim_7b_63" (25 drafts), by expected acceptance, best first.
constexpr std::string_view kEagleTree =
    "0;0,0;1;0,0,0;0,1;2;1,0;0,0,0,0;0,0,1;3;0,2;0,1,0;0,0,0,0,0;2,0;1,1;0,0,2;0,0,0,1;1,0,0;0,1,1;"
    "2,1;3,0;0,2,0;0,0,0,2;0,0,0,0,1;0,2,1";
constexpr int kMaxLevels = 32;

class EagleDrafter final : public Drafter {
 public:
  explicit EagleDrafter(const RunContext& run)
      : layers_(run.draft_head->feature_layers()),
        head_(*run.draft_head, layers_, run),
        tree_(rank_tree_of(run, kEagleTree, kMaxLevels, "a tree")),
        candidates_(static_cast<std::size_t>(run.settings.integer("candidates"))) {
    head_.runner().read_best(std::max(tree_.highest_rank() + 1, static_cast<int>(candidates_)));
  }

  std::vector<std::int32_t> feature_layers() const override { return layers_; }
  TreeRunner* runner() override { return &head_.runner(); }
  std::string warning() const override {
    return watch_.warning("was the head trained for this model?");
  }

  void observe(const StepView& view) override {
    watch_.observe(view);
    head_.observe(view);
  }

  Drafts draft(DraftContext& context) override {
    if (context.room < 1 || !head_.advance(context)) return {};
    // The last level is never run.
    Drafts drafts = grow_rank_tree(context, tree_, head_.levels_below(context) + 1, candidates_,
                                   [&](std::size_t level, std::span<const NodeId> parents) {
                                     if (level > 0) head_.forward(context, parents);
                                     std::vector<LogitsRow> rows;
                                     for (std::size_t i = 0; i < parents.size(); ++i)
                                       rows.push_back(head_.logits(static_cast<int>(i)));
                                     return rows;
                                   });
    if (!drafts.sent.empty()) watch_.drafted(drafts.sent.front());
    return drafts;
  }

 private:
  std::vector<std::int32_t> layers_;
  HeadRunner head_;
  RankTree tree_;
  std::size_t candidates_;
  BestDraftWatch watch_;
};

}  // namespace

MethodInfo eagle_method() {
  MethodInfo info;
  info.name = "eagle";
  info.title = "EAGLE";
  info.summary =
      "One decoder layer drafts the model's next hidden state from the last one and the newest "
      "token, and the model's own output head reads tokens off it. A fixed tree, one forward of the "
      "layer a level.";
  info.paper =
      "EAGLE: Speculative Sampling Requires Rethinking Feature Uncertainty, Li et al., ICML 2024";
  info.drafter_name = "eagle";
  info.drafter_kind = capture::DrafterKind::kHead;
  info.needs = Need::kDraftHead;
  info.heads = {formats::HeadKind::kEagle};
  info.parameters = {tree_parameter("0;0,0;1;0,0,0;0,1;2;…")};
  drafts_one_text<EagleDrafter>(info);
  return info;
}

}  // namespace triescope
