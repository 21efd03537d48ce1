// Speculative decoding with a draft model: a second, smaller model writes a few tokens ahead, as a
// chain or as a tree, and the target checks them all in one forward. Source: Leviathan, Kalman,
// Matias, "Fast Inference from Transformers via Speculative Decoding", 2023; Chen et al.,
// "Accelerating Large Language Model Decoding with Speculative Sampling", 2023 (chains); Miao et
// al., "SpecInfer", 2024 (trees by an expansion configuration); Jeon et al., "Recursive Speculative
// Decoding", 2024 (draws without replacement).
//
// With verify=sample drafts are drawn from q, the draft model's distribution after the same
// processors and warpers as the target's, and q goes to the rule: lossless. Else they are the draft
// model's best tokens.
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "core/accept/model_rows.h"
#include "core/accept/text_acceptor.h"
#include "core/base/error.h"
#include "core/kernels/row_ops.h"
#include "core/methods/draft_runner.h"
#include "core/methods/draft_text.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr int kMaxNodes = 1024;

using Proposals = std::unordered_map<NodeId, Proposal>;

// Children of a node at each level.
std::vector<int> expansion_of(const nlohmann::json& settings) {
  auto widths = settings.value("expansion", std::vector<int>());
  if (widths.empty())
    return std::vector<int>(static_cast<std::size_t>(settings.value("num_assistant_tokens", 4)), 1);
  std::int64_t level = 1, nodes = 0;
  for (const int& width : widths) {
    if (width < 1)
      throw Error(ErrorCode::kInvalidArgument,
                  "expansion: expected at least 1 child a node at every level; found " +
                      std::to_string(width));
    level *= width;
    nodes += level;
    if (nodes > kMaxNodes)
      throw Error(ErrorCode::kInvalidArgument,
                  "expansion: expected at most " + std::to_string(kMaxNodes) +
                      " draft nodes a step; found " + std::to_string(nodes) + " by level " +
                      std::to_string(&width - widths.data() + 1));
  }
  return widths;
}

class DraftModelDrafter final : public Drafter {
 public:
  DraftModelDrafter(const RunContext& run, std::shared_ptr<Proposals> proposals)
      : runner_(*run.draft_model),
        processors_(run),
        warpers_(run.settings),
        widths_(expansion_of(run.settings)),
        threshold_(run.settings.value("assistant_confidence_threshold", 0.0f)),
        draws_(run.settings.value("verify", std::string("greedy")) == "sample"),
        replacement_(run.settings.value("replacement", false)),
        sampler_(run.settings.value("sampler", std::string("softmax")) == "gumbel"
                     ? Sampler::kGumbel
                     : Sampler::kSoftmax),
        proposals_(std::move(proposals)) {}

  std::vector<NodeId> draft(DraftContext& context) override {
    proposals_->clear();
    std::vector<NodeId> hung;
    if (context.frontier.empty() || context.room < 1) return hung;
    const NodeId pending = context.frontier.front();
    if (!runner_.follows(context.tree, context.run.prompt, pending)) return hung;
    runner_.follow(context.tree, context.run.prompt, pending, context.stop);

    std::vector<NodeId> level = {pending};
    const std::size_t levels = std::min(widths_.size(), static_cast<std::size_t>(context.room));
    for (std::size_t i = 0; i < levels; ++i) {
      if (i > 0) {
        if (!runner_.reaches(context.tree.position(level.front()))) break;
        runner_.extend(context.tree, level, context.stop);
      }
      level = propose(context, level, widths_[i]);
      hung.insert(hung.end(), level.begin(), level.end());
      std::erase_if(level, [&](NodeId node) {
        return unsure_.contains(node) || is_eos(context.run, context.tree[node].token.value);
      });
      if (level.empty()) break;
    }
    return hung;
  }

  DrafterCost cost() const override { return runner_.cost(); }

 private:
  // Hangs `width` children below each node of a level; returns the new nodes.
  std::vector<NodeId> propose(DraftContext& context, std::span<const NodeId> level, int width) {
    const AcceptContext said{
        .tree = context.tree,
        .rows = level,
        .logits = [&](int row) { return runner_.logits(row, context.run.vocab_size); },
        .frontier = context.frontier,
        .run = context.run,
        .rng = context.rng};
    ModelRows rows(said, processors_, warpers_);
    unsure_.clear();
    std::vector<NodeId> hung;
    for (const NodeId parent : level) {
      if (draws_) {
        draw_below(context, rows, parent, width, hung);
      } else {
        for (const auto& [score, token] :
             kernels::top_k(rows.scores(parent), static_cast<std::size_t>(width)))
          if (score > -std::numeric_limits<float>::infinity())
            hang(context, parent, token, 1, rows.probability(parent, token), hung);
      }
    }
    return hung;
  }

  void draw_below(DraftContext& context, ModelRows& rows, NodeId parent, int width,
                  std::vector<NodeId>& hung) {
    Proposal& proposal = (*proposals_)[parent];
    proposal.q = rows.distribution(parent);
    proposal.replacement = replacement_;
    Distribution left = proposal.q;
    for (int i = 0; i < width; ++i) {
      const Draw drawn = triescope::draw(left, sampler_, context.rng);
      const float q = proposal.q.probability(drawn.token);
      proposal.draws.push_back(hang(context, parent, drawn.token, q, q, hung));
      if (replacement_) continue;
      if (left.size() == 1) break;
      left = without(left, drawn.token);
    }
  }

  // The child of that token, hung where it is not there yet. q: what it was drawn with.
  NodeId hang(DraftContext& context, NodeId parent, std::int32_t token, float q, float probability,
              std::vector<NodeId>& hung) {
    NodeId node = context.tree.child(parent, TokenId(token));
    if (node.valid()) return node;
    node = context.tree.add(parent, TokenId(token), capture::Source::kDraftModel, kUnknown, q);
    if (probability < threshold_) unsure_.insert(node);
    hung.push_back(node);
    return node;
  }

  DraftRunner runner_;
  LogitsProcessors processors_;
  Warpers warpers_;
  std::vector<int> widths_;
  float threshold_;
  bool draws_, replacement_;
  Sampler sampler_;
  std::shared_ptr<Proposals> proposals_;  // of this step, read by the acceptor
  std::unordered_set<NodeId> unsure_;     // of the level just hung: nothing goes below
};

VerifyRule rule_of(const nlohmann::json& settings, const std::vector<int>& widths) {
  if (settings.value("verify", std::string("greedy")) != "sample")
    return deterministic_rule(settings);
  const bool chain = std::ranges::all_of(widths, [](int width) { return width == 1; });
  return chain ? verify_chain : verify_multi_round;
}

}  // namespace

MethodInfo draft_model_method() {
  MethodInfo info;
  info.name = "draft_model";
  info.title = "Draft-model speculation";
  info.summary =
      "A second, smaller model with the same vocabulary writes a few tokens ahead, as a chain or "
      "as "
      "a tree, and one forward checks them all. Pays where it is several times faster and mostly "
      "right.";
  info.paper =
      "Fast Inference from Transformers via Speculative Decoding, Leviathan, Kalman, Matias, ICML "
      "2023; trees: SpecInfer, Miao et al., ASPLOS 2024";
  info.lossless = true;
  info.drafts = true;
  info.needs = {kDraftModelNeed};
  info.parameters = {
      {.name = "num_assistant_tokens",
       .kind = ParameterKind::kInteger,
       .default_value = 4,
       .minimum = 1,
       .maximum = 256,
       .choices = {},
       .help = "Tokens that the draft model writes ahead, one forward of it each."},
      {.name = "assistant_confidence_threshold",
       .kind = ParameterKind::kNumber,
       .default_value = 0,
       .minimum = 0,
       .maximum = 1,
       .choices = {},
       .help = "Nothing is drafted below a draft that the draft model gives a smaller probability. "
               "0: off."},
      {.name = "expansion",
       .kind = ParameterKind::kIntegerList,
       .default_value = nlohmann::json::array(),
       .choices = {},
       .help = "A tree in place of the chain: children of a node at each level, such as 2,2,1. "
               "Empty: a chain of num_assistant_tokens."},
      {.name = "replacement",
       .kind = ParameterKind::kBoolean,
       .default_value = false,
       .choices = {},
       .help = "verify=sample, in a tree: draw the children of a node with replacement, as "
               "SpecInfer does; off: all of them different."},
  };
  for (auto& p : verify_parameters()) {
    if (p.name == "verify")
      p.help =
          "greedy: the text of greedy decoding, exactly. sample: the distribution of sampling, "
          "exactly (drafts are drawn from q; one passes with chance min(1, p/q)). typical, top_k: "
          "lossy, the text may differ.";
    info.parameters.push_back(std::move(p));
  }
  info.make = [](const RunContext& run) {
    auto proposals = std::make_shared<Proposals>();
    auto drafter = std::make_unique<DraftModelDrafter>(run, proposals);
    const auto proposal_of = [proposals](NodeId node) -> const Proposal* {
      const auto at = proposals->find(node);
      return at == proposals->end() ? nullptr : &at->second;
    };
    return MethodParts{std::move(drafter),
                       std::make_unique<TextAcceptor>(
                           run, rule_of(run.settings, expansion_of(run.settings)), proposal_of)};
  };
  return info;
}

}  // namespace triescope
