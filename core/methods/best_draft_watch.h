// BestDraftWatch: how often a head's best draft for the next token comes true. A head that reads
// the wrong states runs without an error and is only wrong more often; this class notices. Plain
// values.
#pragma once

#include <string>

#include "core/method/step_view.h"

namespace triescope {

class BestDraftWatch {
 public:
  // Notes the best draft below this step's pending node; none = nothing was drafted.
  void drafted(NodeId best) { best_ = best; }
  void observe(const StepView& view);
  // "" while too few steps were seen, or while the best draft is right at least once in five.
  // `remedy` says what to try.
  std::string warning(const std::string& remedy) const;

 private:
  NodeId best_;
  int steps_ = 0, right_ = 0;
};

}  // namespace triescope
