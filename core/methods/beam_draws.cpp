#include "core/methods/beam_draws.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/verify/beam.h"

namespace triescope {
namespace {

class BeamDrawsDrafter final : public Drafter {
 public:
  BeamDrawsDrafter(const RunContext& run, std::unique_ptr<BeamGuide> guide,
                   std::shared_ptr<BeamDraws> draws)
      : guide_(std::move(guide)),
        draws_(std::move(draws)),
        beams_(run.settings.integer(kNumBeams)),
        levels_(static_cast<std::size_t>(run.settings.integer("draft_levels"))),
        candidates_(static_cast<std::size_t>(run.settings.integer("candidates"))) {}

  std::vector<std::int32_t> feature_layers() const override { return guide_->feature_layers(); }
  void observe(const StepView& view) override { guide_->observe(view); }
  TreeRunner* runner() override { return guide_->runner(); }

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    draws_->levels.clear();
    if (context.room < 1 || !guide_->advance(context)) return drafts;
    std::vector<NodeId> parents(context.frontier.begin(), context.frontier.end());
    std::vector<double> scores;
    for (const NodeId beam : parents)
      scores.push_back(static_cast<double>(context.tree[beam].score));
    const std::size_t levels =
        std::min({levels_, static_cast<std::size_t>(context.room), guide_->levels(context)});
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
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const std::vector<float> row = guide_->logprobs(static_cast<int>(i));
      std::vector<double>& q =
          level.q.emplace_back(static_cast<std::size_t>(context.run.vocab_size),
                               -std::numeric_limits<double>::infinity());
      for (std::size_t x = 0; x < row.size(); ++x) {
        if (context.run.is_eos(static_cast<std::int32_t>(x))) continue;
        q[x] = scores[i] + static_cast<double>(row[x]);
        highest = std::max(highest, q[x]);
      }
    }
    if (!std::isfinite(highest)) return {};
    double sum = 0;
    for (auto& row : level.q)
      for (double& q : row) sum += q = std::exp(q - highest);
    for (auto& row : level.q)
      for (double& q : row) q /= sum;
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

  std::unique_ptr<BeamGuide> guide_;
  std::shared_ptr<BeamDraws> draws_;
  int beams_;
  std::size_t levels_, candidates_;
};

}  // namespace

std::unique_ptr<Drafter> make_beam_draws(const RunContext& run, std::unique_ptr<BeamGuide> guide,
                                         std::shared_ptr<BeamDraws> draws) {
  return std::make_unique<BeamDrawsDrafter>(run, std::move(guide), std::move(draws));
}

}  // namespace triescope
