#include "core/methods/beam_forest.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/methods/guided_drafter.h"
#include "core/verify/beam.h"

namespace triescope {
namespace {

class BeamForestDrafter final : public GuidedDrafter {
 public:
  BeamForestDrafter(const RunContext& run, std::unique_ptr<BeamGuide> guide)
      : GuidedDrafter(run, std::move(guide)),
        beams_(static_cast<std::size_t>(run.settings.integer(kNumBeams))),
        width_(static_cast<std::size_t>(beam_forest_width(run.settings))),
        dynamic_(run.settings.boolean("dynamic_width")),
        margin_(static_cast<float>(run.settings.number("draft_margin"))) {}

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    const std::size_t levels = advance(context);
    std::vector<Offer> level;
    for (const NodeId beam : context.frontier)
      level.push_back({.parent = beam, .node = beam, .score = context.tree[beam].score});
    for (std::size_t i = 0; i < levels && !level.empty(); ++i) {
      if (i > 0) {
        std::vector<NodeId> nodes;
        for (const Offer& draft : level) nodes.push_back(draft.node);
        guide_->forward(context, nodes);
      }
      level = take(context, level, drafts);
    }
    return drafts;
  }

 private:
  struct Offer {
    NodeId parent;
    std::int32_t token = -1;
    NodeId node = {};
    float score = 0;
    bool kept = true;  // among those that a beam search by q alone would keep
  };

  // Hangs the level below `above`, the guide's rows, and returns it.
  std::vector<Offer> take(DraftContext& context, std::span<const Offer> above, Drafts& drafts) {
    std::vector<Offer> offers;
    std::vector<std::vector<std::pair<float, std::int32_t>>> rows;
    for (std::size_t i = 0; i < above.size(); ++i) {
      // An EOS may stand among the best, and is no draft.
      const std::size_t wanted = width_ + context.run.eos_token_ids.size();
      rows.push_back(guide_->best(static_cast<int>(i), std::max(wanted, candidates_)));
      for (const auto& [logprob, token] : rows.back())
        if (!context.run.is_eos(token))
          offers.push_back({.parent = above[i].node,
                            .token = token,
                            .score = above[i].score + logprob,
                            .kept = above[i].kept});
    }
    choose(offers);
    for (Offer& offer : offers) {
      const Hung hung = context.tree.hang(offer.parent, TokenId(offer.token),
                                          capture::Source::kDraft, kUnknownLogprob);
      offer.node = hung.node;
      if (hung.is_new) drafts.sent.push_back(hung.node);
    }
    if (guide_->runner() != nullptr)
      for (std::size_t i = 0; i < above.size(); ++i) {
        std::vector<std::int32_t> taken;
        for (const Offer& offer : offers)
          if (offer.parent == above[i].node) taken.push_back(offer.token);
        const std::size_t shown = std::min(rows[i].size(), candidates_);
        show_guide_row(above[i].node, std::span(rows[i]).first(shown), taken, drafts.candidates);
      }
    return offers;
  }

  // Leaves the level's drafts, best first: those that the guide's own beam search keeps, then the best others.
  void choose(std::vector<Offer>& offers) const {
    std::ranges::stable_sort(offers, std::ranges::greater(), &Offer::score);
    std::size_t kept = 0;
    float least = std::numeric_limits<float>::infinity();
    for (Offer& offer : offers) {
      offer.kept = offer.kept && kept < std::min(beams_, width_);
      if (!offer.kept) continue;
      ++kept;
      least = offer.score - margin_;
    }
    std::size_t others = width_ - kept;
    std::erase_if(offers, [&](const Offer& offer) {
      if (offer.kept) return false;
      if (others == 0 || (dynamic_ && offer.score < least)) return true;
      --others;
      return false;
    });
  }

  std::size_t beams_, width_;
  bool dynamic_;
  float margin_;
};

}  // namespace

int beam_forest_width(const Settings& settings) {
  const int given = settings.integer("draft_width");
  return given > 0 ? given : 2 * settings.integer(kNumBeams);
}

std::unique_ptr<Drafter> make_beam_forest(const RunContext& run, std::unique_ptr<BeamGuide> guide) {
  return std::make_unique<BeamForestDrafter>(run, std::move(guide));
}

std::vector<Parameter> beam_forest_parameters() {
  return {
      integer(
          "draft_levels", "Draft Levels", 3, 1, 32,
          "Levels of drafts below the live beams. As many levels as come true are gained in one forward."),
      zero_is(
          "auto",
          integer("draft_width", "Draft Width", 0, 0, 1024,
                  "Drafts of a level, the best of all beams together. A level is gained where "
                  "all of the target's best continuations are among them. 0: twice the beams.")),
      boolean(
          "dynamic_width", "Dynamic Width", false,
          "A level has fewer drafts where they are certain. Search: none that lies draft_margin below the "
          "guide's last place. Beam sampling: the number of beams that go on is chosen at every level, by "
          "the chance that so many drafts pass."),
      number(
          "draft_margin", "Draft Margin", 3.0, 0, 1000,
          "Leaves out a draft whose score lies more than this, in nats, below that of its level's "
          "num_beams-th draft. Only dynamic_width uses it."),
      integer(
          "max_matching_ngram_size", "Longest Match", 3, 1, 64,
          "Without a draft model or head: a beam's last tokens are looked for in its own text, from this "
          "many down to 1, and what followed them is drafted."),
  };
}

}  // namespace triescope
