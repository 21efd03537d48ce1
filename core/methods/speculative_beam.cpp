// Speculative beam search: drafts below all live beams go through the target in one forward, and the search
// goes on level by level while every beam of a level has a row there. The decisions are those of plain beam
// search on the same rows, so the returned texts are the same; what drafts change is how many levels a forward
// decides. The first level that leaves the forest is still known.
//
// With do_sample it is beam sampling instead (core/verify/beam_sample.h): plain beam sampling's
// law.
//
// Drafted by a draft model, a draft head or the text (beam_guide.h), of fixed or dynamic width
// (beam_forest.h). Dynamic width: Qin et al., "Dynamic-Width Speculative Beam Decoding for Efficient LLM
// Inference", AAAI 2025.
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/methods/beam_forest.h"
#include "core/methods/guided_drafter.h"
#include "core/methods/search_methods.h"
#include "core/verify/beam.h"
#include "core/verify/beam_sample.h"

namespace triescope {
namespace {

// The drafter of beam sampling: on every level num_beams continuations are drawn, with replacement, from
// the guide's joint distribution q over (beam, token), q ~ exp(score + log q of the token). The acceptor gets
// q and the draws through BeamDraws. No draft ends a text: q of an EOS is 0, and the target draws those itself.
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

MethodInfo speculative_beam_method() {
  MethodInfo info;
  info.name = "speculative_beam";
  info.title = "Speculative beam search";
  info.summary =
      "Drafts how all beams may go on, checks the whole forest in one forward, and takes as many levels of the "
      "search as lie in it. The same texts as beam search in fewer forwards.";
  info.paper =
      "Dynamic-Width Speculative Beam Decoding for Efficient LLM Inference, Qin et al., AAAI 2025 (drafts "
      "below beams)";
  info.kind = capture::RunKind::kBeams;
  info.drafter_name = "beam drafts";
  info.drafter_title = "The drafter";
  info.width_setting = kNumBeams;
  info.takes_companion = true;
  info.heads = {formats::HeadKind::kEagle, formats::HeadKind::kEagle3};
  info.parameters = beam_forest_parameters();
  for (auto& p : beam_sample_parameters()) info.parameters.push_back(std::move(p));
  for (auto& p : beam_parameters()) info.parameters.push_back(std::move(p));
  info.make = [](const RunContext& run) {
    if (run.settings.boolean("do_sample")) {
      const auto draws = std::make_shared<BeamDraws>();
      return MethodParts{std::make_unique<BeamDrawsDrafter>(run, make_beam_guide(run), draws),
                         std::make_unique<BeamSampleAcceptor>(run, draws)};
    }
    return MethodParts{make_beam_forest(run, make_beam_guide(run)),
                       std::make_unique<BeamAcceptor>(run)};
  };
  return info;
}

}  // namespace triescope
