#include "core/methods/dynamic_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/count_up.h"
#include "core/methods/best_draft_watch.h"
#include "core/methods/head_runner.h"
#include "core/methods/rank_tree.h"

namespace triescope {
namespace {

constexpr int kEagleTokens = 59;  // total_token 60 of EAGLE-2 and -3, less the root

class DynamicTreeDrafter final : public Drafter {
 public:
  DynamicTreeDrafter(const RunContext& run, std::vector<std::int32_t> layers, std::string remedy)
      : layers_(std::move(layers)),
        head_(*run.draft_head, layers_, run),
        remedy_(std::move(remedy)),
        top_k_(static_cast<std::size_t>(run.settings.integer("draft_top_k"))),
        levels_(static_cast<std::size_t>(run.settings.integer("draft_levels"))),
        candidates_(static_cast<std::size_t>(run.settings.integer("candidates"))) {
    const int told = run.settings.integer("draft_tokens");
    tokens_ = static_cast<std::size_t>(told > 0 ? told : run.default_drafts(kEagleTokens));
    head_.runner().read_best(static_cast<int>(std::max(top_k_, candidates_)));
  }

  std::vector<std::int32_t> feature_layers() const override { return layers_; }
  TreeRunner* runner() override { return &head_.runner(); }
  std::string warning() const override { return watch_.warning(remedy_); }

  void observe(const StepView& view) override {
    watch_.observe(view);
    head_.observe(view);
  }

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    if (context.room < 1 || !head_.advance(context)) return drafts;
    // The last level is never run.
    const std::size_t levels = std::min(
        {levels_, static_cast<std::size_t>(context.room), head_.levels_below(context) + 1});
    pool_.clear();
    std::vector<Offer> parents = {{context.frontier.front(), 0}};
    for (std::size_t level = 0; level < levels && !parents.empty(); ++level) {
      if (level > 0) {
        std::vector<NodeId> rows;
        for (const Offer& parent : parents) rows.push_back(parent.node);
        head_.forward(context, rows);
      }
      parents = propose(context, parents, drafts);
    }
    rerank(drafts);
    if (!pool_.empty()) watch_.drafted(pool_.front().node);
    return drafts;
  }

 private:
  struct Offer {
    NodeId node;
    float score;  // cumulative log-probability
  };

  // Puts the best children of each parent into the pool, and returns those to go on with. The
  // parents' rows are the head's last.
  std::vector<Offer> propose(DraftContext& context, std::span<const Offer> parents,
                             Drafts& drafts) {
    const std::size_t first = pool_.size();
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const LogitsRow row = head_.logits(static_cast<int>(i));
      const float log_sum = row.log_sum_exp();
      const auto best = row.top_k(std::max(top_k_, candidates_));
      std::vector<int> ranks;
      for (const auto& [logit, token] : std::span(best).first(std::min(top_k_, best.size()))) {
        if (logit == -std::numeric_limits<float>::infinity()) break;
        ranks.push_back(static_cast<int>(ranks.size()));
        // Rounding must not lift it above 0: a child must not outrank its parent.
        const float logprob = std::min(logit - log_sum, 0.0f);
        const Hung hung = context.tree.hang(parents[i].node, TokenId(token),
                                            capture::Source::kDraft, std::nanf(""));
        if (hung.is_new) pool_.push_back({hung.node, parents[i].score + logprob});
      }
      if (candidates_ > 0)
        show_head_row(
            parents[i].node,
            std::span(best).first(std::min(std::max(ranks.size(), candidates_), best.size())),
            log_sum, ranks, drafts.candidates);
    }
    std::vector<Offer> next(pool_.begin() + static_cast<std::ptrdiff_t>(first), pool_.end());
    const float least = least_score();
    std::erase_if(next, [&](const Offer& draft) {
      return draft.score < least || context.run.is_eos(context.tree[draft.node].token.value);
    });
    std::ranges::stable_sort(next, std::ranges::greater(), &Offer::score);
    if (next.size() > top_k_) next.resize(top_k_);
    return next;
  }

  // The score that a proposal must reach to be sent, given the pool so far.
  float least_score() const {
    if (pool_.size() < tokens_) return -std::numeric_limits<float>::infinity();
    std::vector<float> scores;
    for (const Offer& draft : pool_) scores.push_back(draft.score);
    const auto last = scores.begin() + static_cast<std::ptrdiff_t>(tokens_ - 1);
    std::ranges::nth_element(scores, last, std::ranges::greater());
    return *last;
  }

  void rerank(Drafts& drafts) const {
    auto order = count_up<std::size_t>(pool_.size());
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return pool_[a].score > pool_[b].score; });
    std::vector<bool> is_sent(pool_.size(), false);
    for (std::size_t i = 0; i < std::min(tokens_, order.size()); ++i) is_sent[order[i]] = true;
    for (std::size_t i = 0; i < pool_.size(); ++i)
      (is_sent[i] ? drafts.sent : drafts.withdrawn).push_back(pool_[i].node);
  }

  std::vector<std::int32_t> layers_;
  HeadRunner head_;
  std::string remedy_;
  std::size_t top_k_, levels_, tokens_ = 0, candidates_;
  std::vector<Offer> pool_;  // this step's proposals, parents before children
  BestDraftWatch watch_;
};

}  // namespace

std::unique_ptr<Drafter> make_dynamic_tree_drafter(const RunContext& run,
                                                   std::vector<std::int32_t> layers,
                                                   std::string remedy) {
  return std::make_unique<DynamicTreeDrafter>(run, std::move(layers), std::move(remedy));
}

std::vector<Parameter> dynamic_tree_parameters() {
  return {
      integer("draft_top_k", "Children per Node", 10, 1, 64,
              "Children that a node proposes, and nodes of a level that propose."),
      integer("draft_levels", "Draft Levels", 8, 1, 32,
              "Levels of the tree, one forward of the head each (EAGLE's depth + 1)."),
      zero_is(
          "auto",
          integer(
              "draft_tokens", "Drafts per Step", 0, 0, 1024,
              "How many proposals are verified, the best by cumulative log-probability. 0: as "
              "many as fill a forward at little more than the price of one row, at most EAGLE's 59.")),
  };
}

}  // namespace triescope
