// Token recycling: the target's own best tokens, which decoding throws away, are kept in a table and
// drafted from. The table holds, for every token, the best tokens of the newest row in which the target
// read it: of the pending token's row and of every draft's, accepted or not. Drafts are a static tree: a
// child of rank r is the r-th entry for its parent's token. A table entry knows one token of context and
// not the text before it; that is the whole of the method, and why it needs no model and no text.
//
// Source: Luo et al., "Turning Trash into Treasure: Accelerating Inference of Large Language Models with
// Token Recycling", 2024, sections 3.1 and 3.2. The published code also recycles the prompt's rows; here
// prefill gives its last row alone, so what followed a token in the prompt stands in for those.
#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/methods/drafts_one_text.h"
#include "core/methods/rank_tree.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

constexpr int kSuccessors = 8;
constexpr int kMostLevels = 16;
// The paper's size, 80 nodes on 6 levels, best first. The order takes an entry to be right with a chance that
// falls with its rank and is the same on every level; it was not measured.
constexpr std::string_view kRecyclingTree =
    "0;0,0;1;0,0,0;2;0,1;1,0;3;4;0,0,0,0;0,2;2,0;5;6;0,1,0;1,0,0;0,0,1;0,3;3,0;7;0,4;4,0;1,1;"
    "0,0,2;0,2,0;2,0,0;0,5;5,0;0,0,0,0,0;0,6;6,0;0,0,0,1;0,0,1,0;0,1,0,0;1,0,0,0;0,0,3;0,3,0;"
    "3,0,0;1,2;2,1;0,7;7,0;0,4,0;4,0,0;0,0,4;1,1,0;0,1,1;1,0,1;1,3;3,1;0,0,5;0,5,0;5,0,0;"
    "0,0,2,0;0,2,0,0;2,0,0,0;0,0,0,2;2,2;0,0,0,0,0,0;0,6,0;6,0,0;0,0,6;1,4;4,1;0,1,2;0,2,1;"
    "1,0,2;1,2,0;2,0,1;2,1,0;0,0,3,0;0,3,0,0;3,0,0,0;0,0,0,3;1,5;5,1;0,0,0,0,1;0,0,0,1,0;"
    "0,0,1,0,0;0,1,0,0,0";

// Token -> the tokens that may follow it, best first, distinct, at most `limit`.
class SuccessorTable {
 public:
  explicit SuccessorTable(std::size_t limit) : limit_(limit) {}

  void set(std::int32_t token, std::span<const std::pair<float, std::int32_t>> best) {
    std::vector<std::int32_t>& successors = table_[token];
    successors.clear();
    for (const auto& [score, successor] : best.first(std::min(best.size(), limit_)))
      successors.push_back(successor);
  }
  // Puts one that was seen to follow before the others.
  void saw(std::int32_t token, std::int32_t successor) {
    std::vector<std::int32_t>& successors = table_[token];
    std::erase(successors, successor);
    successors.insert(successors.begin(), successor);
    if (successors.size() > limit_) successors.pop_back();
  }
  std::span<const std::int32_t> of(std::int32_t token) const {
    const auto at = table_.find(token);
    if (at == table_.end()) return {};
    return at->second;
  }

 private:
  std::size_t limit_;
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> table_;
};

class TokenRecyclingDrafter final : public Drafter {
 public:
  explicit TokenRecyclingDrafter(const RunContext& run)
      : tree_(rank_tree_of(run, kRecyclingTree, kMostLevels, "token recycling's drafts")),
        successors_(std::max(run.settings.integer("successors"), tree_.highest_rank() + 1)),
        table_(static_cast<std::size_t>(successors_)) {
    if (!run.settings.boolean("table_from_prompt")) return;
    for (std::size_t i = 1; i < run.prompt.size(); ++i)
      table_.saw(run.prompt[i - 1], run.prompt[i]);
  }

  int best_tokens() const override { return successors_; }

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    std::vector<NodeId> above = {context.frontier.front()};
    for (std::size_t l = 0; l < tree_.levels.size() && static_cast<int>(l) < context.room; ++l) {
      std::vector<NodeId> level;
      for (const RankTree::Node& node : tree_.levels[l])
        level.push_back(hang(context, above[node.parent], node.rank, drafts.sent));
      above = std::move(level);
    }
    return drafts;
  }

  // The rows in the order of the forward: of a token's rows the last is the deepest, with most of the text
  // before it.
  void observe(const StepView& view) override {
    for (std::size_t i = 0; i < view.rows.size(); ++i) {
      const NodeId node = view.rows[i];
      const std::int32_t token =
          node == TokenTree::root() ? view.run.prompt.back() : view.tree[node].token.value;
      table_.set(token,
                 view.logits(static_cast<int>(i)).top_k(static_cast<std::size_t>(successors_)));
    }
  }

 private:
  // Hangs the successor of that rank below `parent`. None: no parent, nothing known, or the text ended.
  NodeId hang(DraftContext& context, NodeId parent, int rank, std::vector<NodeId>& sent) const {
    if (!parent.valid()) return {};
    const std::int32_t token = context.tree[parent].token.value;
    const auto successors = table_.of(token);
    if (context.run.is_eos(token) || static_cast<std::size_t>(rank) >= successors.size()) return {};
    const Hung hung = context.tree.hang(parent, TokenId(successors[static_cast<std::size_t>(rank)]),
                                        capture::Source::kDraft, kUnknownLogprob);
    if (hung.is_new) sent.push_back(hung.node);
    return hung.node;
  }

  RankTree tree_;
  int successors_;
  SuccessorTable table_;
};

}  // namespace

MethodInfo token_recycling_method() {
  MethodInfo info;
  info.name = "token_recycling";
  info.title = "Token recycling";
  info.summary =
      "Keeps the model's own runners-up: a table holds, for every token, the best tokens of the newest row "
      "that read it. A fixed tree drafts from the table, without a model or a text.";
  info.paper =
      "Turning Trash into Treasure: Accelerating Inference of Large Language Models with Token Recycling, "
      "Luo et al., 2024";
  info.drafter_name = "token recycling";
  info.drafter_kind = capture::DrafterKind::kOther;
  info.parameters = {
      integer(
          "successors", "Successors", kSuccessors, 1, kMostBestTokens,
          "Tokens that the table keeps for each token, the best of the newest row that read it; at "
          "least as many as the tree has ranks."),
      boolean(
          "table_from_prompt", "Table from Prompt", true,
          "What followed a token in the prompt is in the table at the start, the latest first."),
      tree_parameter("a tree of 80 (0;0,0;1;…)"),
  };
  drafts_one_text<TokenRecyclingDrafter>(info);
  return info;
}

}  // namespace triescope
