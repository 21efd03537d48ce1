// DFlash: a small head fills a whole block in one pass. The block's first row is the newest token, every other row a
// mask at the position whose token it guesses; all of them see the text, as the target's hidden states tell it, and each
// other. Rows of a block do not know what its other masks will become, so the drafts of a chain are each row's own best
// (or drawn from it, where the rule draws). With a budget a tree grows from the same rows instead, heaviest first
// (best_first_tree.h).
//
// In the token tree the masks are a chain of probes below the pending node, withdrawn: the target never sees them.
// The head's KV of the text comes from the target's states; a block's goes with it. Source: "DFlash: Block Diffusion
// for Flash Speculative Decoding", 2026; "DDTree", arXiv 2604.12989; huggingface/transformers, candidate_generator.py
// (DFlashTokenCandidateGenerator).
#include <algorithm>
#include <memory>

#include "core/capture/metric_names.h"
#include "core/methods/best_draft_watch.h"
#include "core/methods/best_first_tree.h"
#include "core/methods/drafts_one_text.h"
#include "core/methods/rank_tree.h"
#include "core/methods/row_proposer.h"
#include "core/methods/target_states.h"
#include "core/methods/text_methods.h"
#include "core/model/heads/draft_head.h"
#include "core/tree/tree_runner.h"
#include "core/verify/text_acceptor.h"

namespace triescope {
namespace {

class DFlashDrafter final : public Drafter {
 public:
  explicit DFlashDrafter(const RunContext& run)
      : layers_(run.draft_head->feature_layers()),
        target_(layers_),
        runner_(*run.draft_head->layers, run.prompt, {}, run.record_rows),
        proposer_(run),
        mask_(run.draft_head->config.mask_token),
        masks_(run.draft_head->config.block_size - 1),
        budget_(static_cast<std::size_t>(run.settings.integer("tree_budget"))),
        candidates_(static_cast<std::size_t>(run.settings.integer("candidates"))) {
    const int told = run.settings.integer("num_assistant_tokens");
    depth_ = static_cast<std::size_t>(told > 0 ? std::min(told, masks_) : masks_);
    runner_.read_best(budget_ > 0 ? static_cast<int>(std::max(budget_, candidates_))
                                  : proposer_.best_tokens());
  }

  std::vector<std::int32_t> feature_layers() const override { return layers_; }
  TreeRunner* runner() override { return &runner_; }
  std::string warning() const override {
    return watch_.warning("was the head trained for this model, with these layers?");
  }

  void observe(const StepView& view) override {
    watch_.observe(view);
    target_.observe(view);
  }

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    const NodeId pending = context.frontier.front();
    if (context.room < 1 || !runner_.follows(context.tree, pending)) return drafts;
    follow_text(context, context.tree[pending].parent);
    const std::size_t masks = fill_block(context, pending, drafts);
    const std::size_t depth = std::min({depth_, masks, static_cast<std::size_t>(context.room)});
    if (depth == 0) return drafts;
    if (budget_ > 0)
      grow(context, pending, depth, drafts);
    else
      chain(context, pending, depth, drafts);
    watch_.drafted(drafts.sent.front());
    return drafts;
  }

 private:
  // Gives the head the text up to `last`, whose row the target has computed.
  void follow_text(DraftContext& context, NodeId last) {
    runner_.read_inputs_from(
        [this](NodeId node, std::int32_t position) { return target_.of(node, position); });
    runner_.advance(context.tree, last, context.stop, kept_depth_);
    kept_depth_ = context.tree[last].depth;
    target_.forget();
  }

  // Runs the block below the text. Returns how many masks it has: fewer at the end of the context.
  std::size_t fill_block(DraftContext& context, NodeId pending, Drafts& drafts) {
    const int masks = std::min(masks_, runner_.levels_below(context.tree, pending));
    std::vector<NodeId> block = {pending};
    for (int i = 0; i < masks; ++i) {
      block.push_back(
          context.tree.hang_probe(block.back(), TokenId(mask_), capture::Source::kDraft).node);
      drafts.withdrawn.push_back(block.back());
    }
    runner_.read_inputs_from({});
    runner_.forward(context.tree, block, context.stop);
    return static_cast<std::size_t>(masks);
  }

  // The row of the mask at a depth below the pending token, counted from 0.
  LogitsRow row(std::size_t depth) const { return runner_.logits(static_cast<int>(depth) + 1); }

  void chain(DraftContext& context, NodeId at, std::size_t depth, Drafts& drafts) const {
    for (std::size_t i = 0; i < depth; ++i) {
      at = proposer_.propose(context, at, proposer_.guess_of(row(i)), drafts);
      if (context.run.is_eos(context.tree[at].token.value)) return;
    }
  }

  void grow(DraftContext& context, NodeId pending, std::size_t depth, Drafts& drafts) const {
    std::vector<DepthRow> best, rows;
    std::vector<float> sums;
    for (std::size_t i = 0; i < depth; ++i) {
      best.push_back(row(i).top_k(std::max(budget_, candidates_)));
      sums.push_back(row(i).log_sum_exp());
      rows.push_back(best.back());
      for (auto& [logprob, token] : rows.back()) logprob = std::min(logprob - sums.back(), 0.0f);
    }
    const std::vector<GrownNode> tree = grow_best_first(
        rows, budget_, [&](std::int32_t token) { return context.run.is_eos(token); });
    std::vector<NodeId> nodes;
    std::vector<int> children(tree.size() + 1, 0);  // of each node, the pending one first
    for (const GrownNode& grown : tree) {
      const NodeId parent =
          grown.parent < 0 ? pending : nodes[static_cast<std::size_t>(grown.parent)];
      const Hung hung =
          context.tree.hang(parent, TokenId(grown.token), capture::Source::kDraft, kUnknownLogprob);
      nodes.push_back(hung.node);
      if (hung.is_new) drafts.sent.push_back(hung.node);
      ++children[static_cast<std::size_t>(grown.parent + 1)];
      if (context.run.record_rows)
        drafts.figures.push_back({.node = hung.node.value,
                                  .name = std::string(capture::kGrownAs),
                                  .value = static_cast<double>(nodes.size())});
    }
    for (std::size_t i = 0; candidates_ > 0 && i < children.size(); ++i) {
      if (children[i] == 0) continue;
      const std::size_t at = i == 0 ? 0 : static_cast<std::size_t>(tree[i - 1].depth) + 1;
      std::vector<int> chosen;  // a node's children are the best of its depth
      for (int rank = 0; rank < children[i]; ++rank) chosen.push_back(rank);
      show_head_row(i == 0 ? pending : nodes[i - 1],
                    std::span(best[at]).first(
                        std::min(std::max(chosen.size(), candidates_), best[at].size())),
                    sums[at], chosen, drafts.candidates);
    }
  }

  std::vector<std::int32_t> layers_;
  TargetStates target_;
  TreeRunner runner_;
  RowProposer proposer_;
  std::int32_t mask_;
  int masks_;  // of a block
  std::size_t depth_ = 0, budget_, candidates_;
  std::int32_t kept_depth_ = 0;  // nodes at most this deep have KV from the target's states
  BestDraftWatch watch_;
};

}  // namespace

MethodInfo dflash_method() {
  MethodInfo info;
  info.name = "dflash";
  info.title = "DFlash";
  info.summary =
      "A small head fills a block of masks behind the newest token in one pass, reading the model's hidden "
      "states of the text. Its rows are a chain of drafts or, with a budget, a tree that grows heaviest first (DDTree).";
  info.paper =
      "DFlash: Block Diffusion for Flash Speculative Decoding, 2026; DDTree, arXiv 2604.12989, 2026";
  info.drafter_name = "dflash";
  info.drafter_kind = capture::DrafterKind::kHead;
  info.needs = Need::kDraftHead;
  info.heads = {formats::HeadKind::kDFlash};
  info.parameters = {
      zero_is(
          "the block",
          integer(
              "num_assistant_tokens", "Drafts per Step", 0, 0, 255,
              "How far ahead of the newest token drafts reach. 0: as far as the head's block. The head fills "
              "its whole block in any case.")),
      zero_is(
          "a chain",
          integer(
              "tree_budget", "Tree Budget", 0, 0, 1024,
              "Nodes of a tree in place of the chain (DDTree): the heaviest by the sum of their "
              "log-probabilities. 0: a chain.")),
  };
  drafts_one_text<DFlashDrafter>(info, [](const Settings& settings) {
    return settings.integer("tree_budget") > 0 ? deterministic_rule(settings)
                                               : drawn_chain_rule(settings);
  });
  return info;
}

}  // namespace triescope
