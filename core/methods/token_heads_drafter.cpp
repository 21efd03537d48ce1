#include "core/methods/token_heads_drafter.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "core/methods/drafts_one_text.h"
#include "core/methods/head_runner.h"
#include "core/methods/rank_tree.h"
#include "core/model/heads/draft_head.h"

namespace triescope {
namespace {

class TokenHeadsDrafter final : public Drafter {
 public:
  explicit TokenHeadsDrafter(const RunContext& run)
      : layers_(run.draft_head->feature_layers()),
        heads_(*run.draft_head->tokens),
        first_(run.draft_head->config.first_head),
        own_token_(run.draft_head->config.own_token),
        prompt_end_(run.prompt.back()),
        tree_(rank_tree_of(run, kMedusaTree, heads_.count() - first_,
                           "the file's " + std::to_string(heads_.count()) + " heads")),
        candidates_(static_cast<std::size_t>(run.settings.integer("candidates"))),
        best_tokens_(std::max(tree_.highest_rank() + 1, static_cast<int>(candidates_))) {
    if (run.draft_head->layers)
      prefix_ = std::make_unique<HeadRunner>(*run.draft_head, layers_, run);
  }

  std::vector<std::int32_t> feature_layers() const override { return layers_; }
  TreeRunner* runner() override { return prefix_ ? &prefix_->runner() : nullptr; }

  // Keeps the state of the token before the pending one.
  void observe(const StepView& view) override {
    if (prefix_) {
      prefix_->observe(view);
    } else if (!view.text.empty()) {
      const auto state =
          view.feature(view.row_of(view.tree[view.text.back()].parent), layers_.front());
      state_.assign(state.begin(), state.end());
    }
  }

  Drafts draft(DraftContext& context) override {
    if (context.room < 1 || (prefix_ && !prefix_->advance(context))) return {};
    const std::span<const float> state =
        prefix_ ? prefix_->state(0) : std::span<const float>(state_);
    if (!heads_.reads_tokens()) return same_below_all(context, state);
    return grow_rank_tree(context, tree_, tree_.levels.size(), candidates_,
                          [&](std::size_t level, std::span<const NodeId> parents) {
                            return rows(context, state, level, parents);
                          });
  }

 private:
  // For heads that read no tokens: all levels are known at once, one row a level.
  Drafts same_below_all(DraftContext& context, std::span<const float> state) {
    const std::size_t levels =
        std::min(tree_.levels.size(), static_cast<std::size_t>(context.room));
    if (levels == 0) return {};
    const ForwardOutput all = with_memory(context.memory, [&] {
      return heads_.first_rows(static_cast<int>(levels) + first_, state, best_tokens_);
    });
    return grow_rank_tree(context, tree_, levels, candidates_,
                          [&](std::size_t level, std::span<const NodeId> parents) {
                            return std::vector<LogitsRow>(
                                parents.size(), all.row(static_cast<int>(level) + first_));
                          });
  }

  std::vector<LogitsRow> rows(const DraftContext& context, std::span<const float> state,
                              std::size_t level, std::span<const NodeId> parents) {
    std::vector<std::int32_t> tokens;
    for (const NodeId parent : parents) {
      std::vector<TokenId> path = context.tree.tokens_to(parent);
      if (own_token_) {
        path.insert(path.begin(), TokenId(prompt_end_));
        path.pop_back();
      }
      for (std::size_t i = path.size() - level - 1; i < path.size(); ++i)
        tokens.push_back(path[i].value);
    }
    const ForwardOutput all = with_memory(context.memory, [&] {
      return heads_.rows(static_cast<int>(level), state, tokens, best_tokens_);
    });
    std::vector<LogitsRow> of_parents;
    for (std::size_t i = 0; i < parents.size(); ++i)
      of_parents.push_back(all.row(static_cast<int>(i)));
    return of_parents;
  }

  std::vector<std::int32_t> layers_;  // one entry: the state that the heads read
  TokenHeads& heads_;
  // How the heads are used (formats::HeadReading).
  int first_;
  bool own_token_;
  std::int32_t prompt_end_;
  RankTree tree_;
  std::size_t candidates_;
  int best_tokens_;                     // how many of a row's best tokens are looked at
  std::unique_ptr<HeadRunner> prefix_;  // Hydra's layer in front of the heads
  std::vector<float> state_;            // the target's state, where there is no prefix layer
};

}  // namespace

void drafts_with_token_heads(MethodInfo& info, formats::HeadKind kind) {
  info.drafter_name = info.name;
  info.drafter_kind = capture::DrafterKind::kHead;
  info.needs = Need::kDraftHead;
  info.heads = {kind};
  info.parameters = {tree_parameter("0;0,0;1;0,1;2;0,0,0;…")};
  drafts_one_text<TokenHeadsDrafter>(info);
}

}  // namespace triescope
