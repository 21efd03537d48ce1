// Beam sampling: the beams of a level are drawn, independently and with replacement, from the joint
// distribution P over all continuations of all live beams, P(beam, token) ~ exp(score of the beam + log p).
//
// Drafts that were drawn the same way from a joint q are checked level by level (Qin et al., 2025): with
// cur = P, a draft x passes where u < cur(x) / q(x), and then cur = P again; else cur = norm(max(cur - q, 0)).
// A level ends where n drafts have passed; short of that, one beam is drawn from cur and the rest from P, and
// the step ends with the level. With replacement the n beams are independent draws from P: a run has the law
// of plain beam sampling of the same widths. (Drawn without replacement, as the published code does it, they
// are not.) n is the number of drafts, or with dynamic width at most that, chosen before the drafts of the
// level are looked at (beam_width.h).
//
// A path that is drawn twice is one node, which weighs twice in the next level's P. A beam that ends is
// finished with its score as in beam search, and so is the run (beam_pool.h). Not thread-safe.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/method/method.h"
#include "core/sampling/logits_processors.h"
#include "core/verify/beam_pool.h"
#include "core/verify/joint.h"

namespace triescope {

// The draws of a drafter in one step, for the acceptor of the same run.
struct BeamDraws {
  struct Level {
    std::vector<NodeId> parents;  // the frontier, then the drafts of the level above, each once
    JointRows q;                  // [vocab] for each parent; all sum to 1
    std::vector<NodeId> draws;    // in order; a node stands there as often as it was drawn
  };
  std::vector<Level> levels;
};

class BeamSampleAcceptor final : public Acceptor {
 public:
  // Reads beam_parameters(), dynamic_width, pass_chance, least_beams and "candidates". `draws` is
  // filled by the drafter before every forward. Error{kInvalidArgument}: least_beams or num_return_sequences
  // above num_beams.
  BeamSampleAcceptor(const RunContext& run, std::shared_ptr<const BeamDraws> draws);

  AcceptResult accept(const StepView& view, Rng& rng) override;
  std::vector<FinishedSequence> results(const TokenTree& tree) const override;

 private:
  struct Beam {
    NodeId node;
    int times = 1;  // how often it was drawn
  };
  struct Drawn {
    NodeId parent;
    std::int32_t token = -1;
    capture::VerdictRow verdict;
  };
  struct Joint;  // P of a level
  Joint joint(const StepView& view, const BeamDraws::Level* level, AcceptResult& result) const;
  int width(const Joint& joint, const BeamDraws::Level& level) const;
  std::vector<Drawn> check(const StepView& view, const BeamDraws::Level& level, const Joint& joint,
                           int n, Rng& rng, AcceptResult& result);
  static void draw(const Joint& joint, const JointRows& from, capture::Reason reason, Rng& rng,
                   std::vector<Drawn>& drawn);
  void settle(const StepView& view, const Joint& joint, std::span<const Drawn> drawn,
              AcceptResult& result);

  LogitsProcessors processors_;
  int beams_, least_beams_;
  std::size_t returned_, candidates_;
  bool dynamic_;
  double pass_chance_;
  FinishedPool pool_;
  std::shared_ptr<const BeamDraws> draws_;
  std::vector<Beam> live_ = {{TokenTree::root(), 1}};
  bool over_ = false, whole_level_ = false;  // the newest level passed as a whole
};

// dynamic_width's companions: pass_chance and least_beams; do_sample.
std::vector<Parameter> beam_sample_parameters();

}  // namespace triescope
