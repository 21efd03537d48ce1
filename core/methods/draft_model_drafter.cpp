#include "core/methods/draft_model_drafter.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/sampling/model_rows.h"
#include "core/tree/tree_runner.h"
#include "core/verify/rule_table.h"
#include "core/verify/text_acceptor.h"

namespace triescope {
namespace {

constexpr int kMaxDraftNodes = 1024;

// Number of children of a node, by level.
std::vector<int> expansion_of(const Settings& settings) {
  auto widths = settings.integers("expansion");
  if (widths.empty())
    return std::vector<int>(static_cast<std::size_t>(settings.integer("num_assistant_tokens")), 1);
  std::int64_t level = 1, nodes = 0;
  for (const int& width : widths) {
    if (width < 1)
      throw Error(ErrorCode::kInvalidArgument,
                  "expansion: expected at least 1 child a node at every level; found " +
                      std::to_string(width));
    level *= width;
    nodes += level;
    if (nodes > kMaxDraftNodes)
      throw Error(ErrorCode::kInvalidArgument,
                  "expansion: expected at most " + std::to_string(kMaxDraftNodes) +
                      " draft nodes a step; found " + std::to_string(nodes) + " by level " +
                      std::to_string(&width - widths.data() + 1));
  }
  return widths;
}

class DraftModelDrafter final : public Drafter {
 public:
  DraftModelDrafter(const RunContext& run, Model& model)
      : runner_(model, run.prompt, {}, run.record_rows),
        processors_(run),
        warpers_(run.settings),
        widths_(expansion_of(run.settings)),
        threshold_(static_cast<float>(run.settings.number("assistant_confidence_threshold"))),
        draws_(verify_draws(run.settings.text("verify"))),
        replacement_(run.settings.boolean("replacement")),
        sampler_(sampler_of(run.settings)),
        candidates_(static_cast<std::size_t>(run.settings.integer("candidates"))) {
    if (!draws_ && !processors_.any())
      runner_.read_best(std::max(std::ranges::max(widths_), static_cast<int>(candidates_)));
  }

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    const NodeId pending = context.frontier.front();
    if (context.room < 1 || !runner_.follows(context.tree, pending)) return drafts;
    runner_.advance(context.tree, pending, context.stop);

    // The last level is never run, so one more fits than levels_below() it.
    const std::size_t levels =
        std::min({widths_.size(), static_cast<std::size_t>(context.room),
                  static_cast<std::size_t>(runner_.levels_below(context.tree, pending)) + 1});
    std::vector<NodeId> level = {pending};
    for (std::size_t i = 0; i < levels && !level.empty(); ++i) {
      if (i > 0) runner_.forward(context.tree, level, context.stop);
      level = propose(context, widths_[i], drafts);
    }
    return drafts;
  }

  TreeRunner* runner() override { return &runner_; }

 private:
  // Hangs `width` children below each node that the draft model has just run. Returns the children
  // below which it may go on.
  std::vector<NodeId> propose(DraftContext& context, int width, Drafts& drafts) {
    const LogitsFrom known([&](int row) { return logits(row, context.run.vocab_size); });
    const StepView view{
        .tree = context.tree,
        .run = context.run,
        .rows = runner_.rows(),
        .frontier = context.frontier,
        .computed = known,
    };
    ModelRows rows(view, processors_, warpers_);
    const std::size_t first = drafts.sent.size();
    std::unordered_set<NodeId> unsure;
    for (const NodeId parent : runner_.rows()) {
      const std::vector<Draft> found =
          draws_ ? drawn_below(context, rows, parent, width, drafts.proposals)
                 : best_below(rows, parent, width);
      for (const Draft& draft : found) {
        const Hung hung = context.tree.hang(parent, TokenId(draft.token), capture::Source::kDraft,
                                            kUnknownLogprob, draft.q);
        if (draws_) drafts.proposals[parent].draws.push_back(hung.node);
        if (!hung.is_new) continue;
        if (draft.probability < threshold_) unsure.insert(hung.node);
        drafts.sent.push_back(hung.node);
      }
      show(rows, parent, found, drafts.candidates);
    }
    std::vector<NodeId> level(drafts.sent.begin() + static_cast<std::ptrdiff_t>(first),
                              drafts.sent.end());
    std::erase_if(level, [&](NodeId node) {
      return unsure.contains(node) || context.run.is_eos(context.tree[node].token.value);
    });
    return level;
  }

  struct Draft {
    std::int32_t token;
    float q;            // probability with which it was drawn; 1 = not drawn
    float probability;  // the draft model's
  };

  std::vector<Draft> best_below(ModelRows& rows, NodeId parent, int width) const {
    std::vector<Draft> found;
    for (const auto& [score, token] : rows.scores(parent).top_k(static_cast<std::size_t>(width)))
      if (score > -std::numeric_limits<float>::infinity())
        found.push_back({token, 1, rows.probability(parent, token)});
    return found;
  }

  std::vector<Draft> drawn_below(DraftContext& context, ModelRows& rows, NodeId parent, int width,
                                 Proposals& proposals) const {
    Proposal& proposal = proposals[parent];
    proposal.q = rows.distribution(parent);
    proposal.replacement = replacement_;
    std::vector<Draft> found;
    Distribution left = proposal.q;
    for (int i = 0; i < width; ++i) {
      const std::int32_t token = draw(left, sampler_, context.rng).token;
      const float q = proposal.q.probability(token);
      found.push_back({token, q, q});
      if (replacement_) continue;
      if (left.size() == 1) break;
      left = without(left, token);
    }
    return found;
  }

  void show(ModelRows& rows, NodeId node, std::span<const Draft> chosen,
            std::vector<capture::CandidateRow>& out) const {
    const auto best = rows.raw(node).top_k(candidates_);
    for (std::size_t rank = 0; rank < best.size(); ++rank)
      out.push_back(
          {.node = node.value,
           .rank = static_cast<std::int32_t>(rank),
           .token = best[rank].second,
           .logprob = rows.logprob(node, best[rank].second),
           .chosen = std::ranges::find(chosen, best[rank].second, &Draft::token) != chosen.end()});
  }

  // The draft model's row in the target's vocabulary [vocab_size]: ids that the draft model lacks
  // are -infinity, and its ids beyond the target's are left out.
  LogitsRow logits(int row, int vocab_size) {
    const LogitsRow all = runner_.logits(row);
    const auto wanted = static_cast<std::size_t>(vocab_size);
    if (all.size() == wanted) return all;
    if (all.size() > wanted) return all.whole().first(wanted);
    std::vector<float>& padded = padded_[row];
    padded.assign(all.begin(), all.end());
    padded.resize(wanted, -std::numeric_limits<float>::infinity());
    return padded;
  }

  TreeRunner runner_;
  LogitsProcessors processors_;
  Warpers warpers_;
  std::vector<int> widths_;
  float threshold_;
  bool draws_, replacement_;
  Sampler sampler_;
  std::size_t candidates_;
  std::unordered_map<int, std::vector<float>> padded_;  // by row
};

}  // namespace

std::unique_ptr<Drafter> make_draft_model_drafter(const RunContext& run, Model& model) {
  return std::make_unique<DraftModelDrafter>(run, model);
}

VerifyRule draft_model_rule(const Settings& settings) {
  const std::string verify = settings.text("verify");
  if (!verify_draws(verify)) return deterministic_rule(settings);
  const bool chain =
      std::ranges::all_of(expansion_of(settings), [](int width) { return width == 1; });
  return rule_for(verify, chain ? Drafted::kDrawnChain : Drafted::kDrawnTree);
}

std::vector<Parameter> draft_model_parameters() {
  std::vector<Parameter> parameters = {
      integer("num_assistant_tokens", "Drafts per Step", 4, 1, 256,
              "Tokens that the draft model writes ahead, one forward of it each."),
      zero_is("off", number("assistant_confidence_threshold", "Least Confidence", 0, 0, 1,
                            "Nothing is drafted below a draft that the draft model gives a smaller "
                            "probability. 0: off.")),
      empty_is("a chain",
               integer_list(
                   "expansion", "Tree Expansion", 0, kMaxDraftNodes,
                   "A tree in place of the chain: children of a node at each level, such as 2,2,1. "
                   "Empty: a chain of num_assistant_tokens.")),
      boolean(
          "replacement", "With Replacement", false,
          "With verify=sample, in a tree, the children of a node are drawn with replacement, as "
          "SpecInfer does; off: all of them different."),
  };
  for (auto& p : verify_parameters()) {
    if (p.name == "verify")
      p.help =
          "How drafts are checked. greedy: the text of greedy decoding, exactly. sample: the "
          "distribution of sampling, exactly (drafts are drawn from q; one passes with chance min(1, "
          "p/q)): chain, or multi_round in a tree. block: the same distribution, a chain judged as one, which "
          "accepts more. typical, top_k: lossy, the text may differ.";
    parameters.push_back(std::move(p));
  }
  return parameters;
}

}  // namespace triescope
