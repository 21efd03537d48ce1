// ModelRows: what a model says at each node of a forward: scores after the logits processors, the
// best token, the distribution after the warpers, probabilities. Each is computed when it is first
// asked for. An acceptor reads the target's rows this way, a drafter its draft model's.
//
// Borrows the StepView and is valid as long as its rows. Only nodes that have a row (has()) may be
// asked for. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/method/distribution.h"
#include "core/method/step_view.h"
#include "core/sampling/logits_processors.h"
#include "core/sampling/warpers.h"

namespace triescope {

class ModelRows {
 public:
  ModelRows(const StepView& view, const LogitsProcessors& processors, const Warpers& warpers);

  bool has(NodeId node) const { return entries_.contains(node); }
  std::int32_t vocab_size() const { return view_.run.vocab_size; }

  LogitsRow raw(NodeId node);     // the model's logits [vocab]
  LogitsRow scores(NodeId node);  // after the processors [vocab]
  // Best token of scores(); ties go to the lowest id.
  std::int32_t best(NodeId node);
  // Softmax of scores(), without temperature or filter: for rules that do not sample, and for
  // display.
  float probability(NodeId node, std::int32_t token);
  // How many tokens precede this one in scores() (a higher score, or the same score and a lower
  // id); 0 = the best.
  std::int32_t rank(NodeId node, std::int32_t token);
  // The distribution that sampling draws from, after the warpers.
  const Distribution& distribution(NodeId node);
  // p of these tokens after the processors and after each warper, for those that are on.
  std::vector<capture::StageRow> stages(NodeId node, std::span<const std::int32_t> tokens,
                                        bool warped);
  // The model's own log p(token | path), before processors: the tree and the capture hold this.
  float logprob(NodeId node, std::int32_t token);

 private:
  struct Entry {
    int row = 0;
    bool has_raw_log_sum = false, has_log_sum = false;
    float raw_log_sum = 0, log_sum = 0;
    std::int32_t best = -1;
    std::vector<float> processed;  // empty unless a processor is on
    std::unique_ptr<Distribution> distribution;
  };
  Entry& entry(NodeId node);

  const StepView& view_;
  const LogitsProcessors& processors_;
  const Warpers& warpers_;
  std::unordered_map<NodeId, Entry> entries_;
};

}  // namespace triescope
