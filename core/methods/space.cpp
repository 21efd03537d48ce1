// SPACE: the model drafts for itself through masks, trained vectors in a token's place. A step's rows are
//
//   pending ─ c_1 ─ c_2 ─ … ─ c_k         candidates, which may become text
//      │       │      │         │
//     M_0     M_1    M_2       M_k        below each of them a chain of k masks: probes
//
// The row of c_i judges c_{i+1}. With c_a the last accepted, its row gives the next token x, and the
// masks of M_a what follows x: mask j, at c_a's position + j, guesses the token after that position, so
// mask 1 gives the next step's c_1, mask 2 its c_2. That step drafts without a forward of its own. All
// masks of M_a follow from the text up to c_a alone: c_j is drawn from its mask's row independently of
// the others, and that row is its q. Masks see a trained prefix beside their path, no candidate sees a
// mask or the prefix, so the target's own rows stay what they are.
//
// Source: Yi et al., "Generation Meets Verification: Accelerating Large Language Model Inference with
// Smart Parallel Auto-Correct Decoding", 2024 (the step); Lin et al., "BiTA: Bi-Directional Tuning for
// Lossless Acceleration in Large Language Models", 2024 (masks and prefix for a frozen target).
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/methods/row_proposer.h"
#include "core/methods/text_methods.h"
#include "core/model/heads/draft_head.h"
#include "core/verify/text_acceptor.h"

namespace triescope {
namespace {

// The setting num_masks; 0: as many as make a step little dearer than one row, at least one.
int masks_used(const RunContext& run) {
  const int trained = run.draft_head->masks->count;
  const int asked = run.settings.integer("num_masks");
  if (asked > 0) return std::min(asked, trained);
  const auto rows = [](int masks) { return masks * (masks + 2) + 1; };
  int masks = 1;
  while (masks < trained && rows(masks + 1) <= run.row_costs.cheap_rows) ++masks;
  return masks;
}

class SpaceDrafter final : public Drafter {
 public:
  explicit SpaceDrafter(const RunContext& run)
      : masks_(*run.draft_head->masks), count_(masks_used(run)), proposer_(run) {}

  const MaskInputs* masks() const override { return &masks_; }

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    std::vector<NodeId> chain = {context.frontier.front()};
    for (std::size_t i = 0; i < guesses_.size() && static_cast<int>(i) < context.room; ++i) {
      const NodeId candidate = proposer_.propose(context, chain.back(), guesses_[i], drafts);
      chain.push_back(candidate);
      if (context.run.is_eos(context.tree[candidate].token.value)) break;
    }
    guesses_.clear();
    for (std::size_t i = 0; i < chain.size(); ++i)
      if (i == 0 || !context.run.is_eos(context.tree[chain[i]].token.value))
        hang_masks(context, chain[i], context.room - static_cast<int>(i) - 1, drafts.sent);
    return drafts;
  }

  // The rows of the masks below the node whose row gave the newest token.
  void observe(const StepView& view) override {
    guesses_.clear();
    if (view.text.empty()) return;
    NodeId above = view.tree[view.text.back()].parent;
    for (std::size_t i = 0; i < view.rows.size(); ++i) {
      const Node& node = view.tree[view.rows[i]];
      if (!node.is_probe() || node.parent != above) continue;
      guesses_.push_back(proposer_.guess_of(view.logits(static_cast<int>(i))));
      above = view.rows[i];
    }
  }

 private:
  // The masks below a node, as many as guess tokens that a next step could still draft: `room`.
  void hang_masks(DraftContext& context, NodeId above, int room, std::vector<NodeId>& sent) const {
    for (int mask = 0; mask < std::min(count_, room); ++mask) {
      const TokenId token(context.run.first_unused_token + mask);
      above = context.tree.hang_probe(above, token, capture::Source::kDraft).node;
      sent.push_back(above);
    }
  }

  const MaskInputs& masks_;
  int count_;
  RowProposer proposer_;
  std::vector<GuessRow> guesses_;  // of the tokens after the pending one, in order
};

}  // namespace

MethodInfo space_method() {
  MethodInfo info;
  info.name = "space";
  info.title = "SPACE";
  info.summary =
      "The model drafts for itself: rows of trained mask vectors guess the tokens ahead while the same "
      "forward verifies the guesses of the step before. With the target's weights frozen (BiTA), its own "
      "text stays what it was.";
  info.paper =
      "Generation Meets Verification: Accelerating Large Language Model Inference with Smart Parallel "
      "Auto-Correct Decoding, Yi et al., Findings of ACL 2024; BiTA, Lin et al., 2024";
  info.kind = capture::RunKind::kDrafts;
  info.drafter_name = "space";
  info.drafter_kind = capture::DrafterKind::kHead;
  info.needs = Need::kDraftHead;
  info.heads = {formats::HeadKind::kSpace};
  info.parameters = {
      zero_is("auto",
              integer("num_masks", "Masks", 0, 0, 64,
                      "Masks below each candidate, and so candidates a step: k of them cost "
                      "k(k + 2) rows beside the pending token's. At most as many as the file "
                      "has. 0: as many as make a step little dearer than one row.")),
  };
  for (auto& p : verify_parameters()) {
    if (p.name == "verify") {
      p.choices.push_back("published");
      p.help =
          "How candidates are checked. greedy: the text of greedy decoding, exactly. sample, chain: "
          "the distribution of sampling, exactly (a candidate is drawn from its mask's row q and passes "
          "with chance min(1, p/q); after a refusal the token is drawn from what q left of p). block: the "
          "same distribution, the candidates judged together. "
          "published: SPACE's own sampling, lossy: after a refusal it draws from p. multi_round: as "
          "sample. typical, top_k: lossy, the text may differ.";
    }
    info.parameters.push_back(std::move(p));
  }
  info.make = [](const RunContext& run) {
    return MethodParts{std::make_unique<SpaceDrafter>(run),
                       std::make_unique<TextAcceptor>(run, drawn_chain_rule(run.settings))};
  };
  return info;
}

}  // namespace triescope
