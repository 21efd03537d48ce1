#include "core/methods/beam_draws.h"

#include <cmath>
#include <limits>
#include <utility>

#include "core/methods/guided_drafter.h"
#include "core/verify/beam.h"

namespace triescope {
namespace {

class BeamDrawsDrafter final : public GuidedDrafter {
 public:
  BeamDrawsDrafter(const RunContext& run, std::unique_ptr<BeamGuide> guide,
                   std::shared_ptr<BeamDraws> draws)
      : GuidedDrafter(run, std::move(guide)),
        draws_(std::move(draws)),
        beams_(run.settings.integer(kNumBeams)) {}

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    draws_->levels.clear();
    const std::size_t levels = advance(context);
    std::vector<NodeId> parents(context.frontier.begin(), context.frontier.end());
    std::vector<double> scores;
    for (const NodeId beam : parents)
      scores.push_back(static_cast<double>(context.tree[beam].score));
    for (std::size_t i = 0; i < levels; ++i) {
      if (i > 0) guide_->forward(context, parents);
      BeamDraws::Level level = joint(context, parents, scores);
      if (level.q.empty()) break;
      draw(context, level, parents, scores, drafts);
      draws_->levels.push_back(std::move(level));
    }
    return drafts;
  }

 private:
  // q over the guide's rows. No q at all: the guide knows nothing that may follow.
  BeamDraws::Level joint(const DraftContext& context, std::span<const NodeId> parents,
                         std::span<const double> scores) const {
    BeamDraws::Level level{.parents = {parents.begin(), parents.end()}, .q = {}, .draws = {}};
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const std::vector<float> row = guide_->logprobs(static_cast<int>(i));
      std::vector<double>& q =
          level.q.emplace_back(static_cast<std::size_t>(context.run.vocab_size),
                               -std::numeric_limits<double>::infinity());
      for (std::size_t x = 0; x < row.size(); ++x)
        if (!context.run.is_eos(static_cast<std::int32_t>(x)))
          q[x] = scores[i] + static_cast<double>(row[x]);
    }
    if (!normalise_logs(level.q)) return {};
    return level;
  }

  // Draws the level; `parents` and `scores` are then its nodes, each once.
  void draw(DraftContext& context, BeamDraws::Level& level, std::vector<NodeId>& parents,
            std::vector<double>& scores, Drafts& drafts) {
    std::vector<NodeId> nodes;
    std::vector<double> below;
    std::vector<std::vector<std::int32_t>> taken(parents.size());
    for (int i = 0; i < beams_; ++i) {
      const auto [parent, token] = draw_joint(level.q, context.rng.uniform());
      const double q = level.q[parent][static_cast<std::size_t>(token)];
      const Hung hung = context.tree.hang(parents[parent], TokenId(token), capture::Source::kDraft,
                                          kUnknownLogprob, static_cast<float>(q));
      level.draws.push_back(hung.node);
      if (!hung.is_new) continue;
      nodes.push_back(hung.node);
      // The joint's own score, up to the same number for all: what the next level weighs it with.
      below.push_back(std::log(q));
      taken[parent].push_back(token);
      drafts.sent.push_back(hung.node);
    }
    if (guide_->runner() != nullptr)
      for (std::size_t i = 0; i < parents.size(); ++i)
        show_guide_row(parents[i], guide_->best(static_cast<int>(i), candidates_), taken[i],
                       drafts.candidates);
    parents = std::move(nodes);
    scores = std::move(below);
  }

  std::shared_ptr<BeamDraws> draws_;
  int beams_;
};

}  // namespace

std::unique_ptr<Drafter> make_beam_draws(const RunContext& run, std::unique_ptr<BeamGuide> guide,
                                         std::shared_ptr<BeamDraws> draws) {
  return std::make_unique<BeamDrawsDrafter>(run, std::move(guide), std::move(draws));
}

}  // namespace triescope
