// Sample, then beam: the first k tokens are drawn, and a beam search goes on from where they end.
// The draw gives variety, the search quality.
#include "core/methods/search_methods.h"
#include "core/verify/beam.h"
#include "core/verify/text_acceptor.h"

namespace triescope {
namespace {

class SampleThenBeamAcceptor final : public Acceptor {
 public:
  explicit SampleThenBeamAcceptor(const RunContext& run)
      : sampled_tokens_(run.settings.integer("sampled_tokens")),
        sample_(run, verify_deterministic),
        beam_(run),
        scores_(1, run.settings.number("length_penalty"), EarlyStopping::kTrue,
                run.max_new_tokens) {}

  int best_tokens() const override {
    return searching_ ? beam_.best_tokens() : sample_.best_tokens();
  }

  Outlook preview(const StepView& view) override {
    return searches(view) ? beam_.preview(view) : sample_.preview(view);
  }

  AcceptResult accept(const StepView& view, Rng& rng) override {
    searching_ = searches(view);
    if (searching_) return beam_.accept(view, rng);
    AcceptResult result = sample_.accept(view, rng);
    for (FinishedSequence& sequence : result.finished) {
      const Node& last = view.tree[sequence.node];
      sequence.score = scores_.normalised(last.score, last.depth);
    }
    finished_ = result.finished;
    return result;
  }

  std::vector<FinishedSequence> results(const TokenTree& tree) const override {
    if (searching_) return beam_.results(tree);
    return finished_.empty() ? sample_.results(tree) : finished_;
  }

 private:
  // The frontier's depth is the number of tokens drawn so far.
  bool searches(const StepView& view) const {
    return searching_ || view.tree[view.frontier.front()].depth >= sampled_tokens_;
  }

  int sampled_tokens_;
  TextAcceptor sample_;
  BeamAcceptor beam_;
  FinishedPool scores_;  // only for its length penalty
  bool searching_ = false;
  std::vector<FinishedSequence> finished_;
};

}  // namespace

MethodInfo sample_then_beam_method() {
  MethodInfo info;
  info.name = "sample_then_beam";
  info.title = "Sample, then beam";
  info.summary =
      "Draws the first tokens, then goes on with beam search from there: another seed "
      "gives another beginning, and each is continued as well as the beams can. An "
      "end-of-sequence token among the drawn ones ends the text.";
  info.paper =
      "Efficient Beam Search for Large Language Models Using Trie-Based Decoding, 2025 "
      "(hybrid)";
  info.kind = capture::RunKind::kBeams;
  info.width_setting = kNumBeams;
  info.parameters = {
      zero_is("none", integer("sampled_tokens", "Sampled Tokens", 4, 0, 1000000,
                              "Tokens to draw before the beam search. 0 = beam search alone."))};
  for (auto& p : beam_parameters()) info.parameters.push_back(std::move(p));
  for (auto& p : warper_parameters()) info.parameters.push_back(std::move(p));
  info.parameters.push_back(sampler_parameter());
  info.make = [](const RunContext& run) {
    return MethodParts{nullptr, std::make_unique<SampleThenBeamAcceptor>(run)};
  };
  return info;
}

}  // namespace triescope
