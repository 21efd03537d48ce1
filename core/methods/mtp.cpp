// MTP, multi-token prediction: a layer that the model was trained with for the token after the next. It reads the
// next token's embedding and the model's final state, each through a norm of its own, and its output goes through the
// model's output head; that output, normed, is the state for one token more. Drafts are a chain. Source: DeepSeek-AI,
// "DeepSeek-V3 Technical Report", 2024, section 2.2; huggingface/transformers, modeling_layers.py (MtpModel).
#include <algorithm>
#include <memory>

#include "core/methods/best_draft_watch.h"
#include "core/methods/drafts_one_text.h"
#include "core/methods/head_runner.h"
#include "core/methods/row_proposer.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

class MtpDrafter final : public Drafter {
 public:
  explicit MtpDrafter(const RunContext& run)
      : layers_(run.draft_head->feature_layers()),
        head_(*run.draft_head, layers_, run),
        proposer_(run),
        depth_(static_cast<std::size_t>(run.settings.integer("num_assistant_tokens"))) {
    head_.runner().read_best(proposer_.best_tokens());
  }

  std::vector<std::int32_t> feature_layers() const override { return layers_; }
  TreeRunner* runner() override { return &head_.runner(); }
  std::string warning() const override {
    return watch_.warning("does the layer belong to this model?");
  }

  void observe(const StepView& view) override {
    watch_.observe(view);
    head_.observe(view);
  }

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    if (context.room < 1 || !head_.advance(context)) return drafts;
    // The last level is never run.
    const std::size_t levels =
        std::min({depth_, static_cast<std::size_t>(context.room), head_.levels_below(context) + 1});
    NodeId at = context.frontier.front();
    for (std::size_t level = 0; level < levels; ++level) {
      if (level > 0) head_.forward(context, std::span<const NodeId>(&at, 1));
      at = proposer_.propose(context, at, proposer_.guess_of(head_.logits(0)), drafts);
      if (level == 0) watch_.drafted(at);
      if (context.run.is_eos(context.tree[at].token.value)) break;
    }
    return drafts;
  }

 private:
  std::vector<std::int32_t> layers_;
  HeadRunner head_;
  RowProposer proposer_;
  std::size_t depth_;
  BestDraftWatch watch_;
};

}  // namespace

MethodInfo mtp_method() {
  MethodInfo info;
  info.name = "mtp";
  info.title = "MTP";
  info.summary =
      "A layer that the model was trained with guesses the token after the next from the model's last "
      "state and the next token. What it gives is its own next input, so it drafts a chain.";
  info.paper = "DeepSeek-V3 Technical Report, DeepSeek-AI, 2024, section 2.2";
  info.drafter_name = "mtp";
  info.drafter_kind = capture::DrafterKind::kHead;
  info.needs = Need::kDraftHead;
  info.heads = {formats::HeadKind::kMtp};
  info.parameters = {
      integer(
          "num_assistant_tokens", "Drafts per Step", 3, 1, 64,
          "Tokens that the layer drafts a step, one forward of the layer each. transformers drafts one."),
  };
  drafts_one_text<MtpDrafter>(info, drawn_chain_rule);
  return info;
}

}  // namespace triescope
