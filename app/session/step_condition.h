// StepCondition: a condition on a step and on the nodes that it decided, in the lessons' expression
// language: `accepted >= 1 and refused > 0`, `verdict = "rejected" and depth >= 2`. The search in a
// run and breakpoints use it alike, for recorded runs and for those that are being decoded.
// docs/find.md lists the names. Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/session/step_facts.h"
#include "lessons/expression.h"

namespace triescope::app {

class StepCondition {
 public:
  // Error{kCorruption}: "column 7: …": an unknown name or word (with the nearest one), or a text
  // that is not a condition.
  explicit StepCondition(const std::string& text);

  const std::string& text() const { return expression_.text(); }
  // The decided nodes for which it is true, in the order of their verdicts. A condition without
  // names of nodes is asked once: {-1} = true of the step. Where something is divided by 0 it is
  // not true.
  std::vector<std::int32_t> matches(const StepFacts& facts) const;
  // Error{kInvalidArgument}: it asks for a metric that the capture does not have.
  void check_metrics(const capture::Capture& capture) const;

 private:
  lessons::Expression expression_;
  bool about_nodes_ = false;
  std::vector<std::string> metrics_;
};

// A name of conditions, with what it stands for.
struct ConditionName {
  const char* name;
  const char* meaning;
};
std::span<const ConditionName>
node_names();  // of a decided node; the others are lessons::series_list()

// A step for which a condition is true, and where.
struct StepMatch {
  std::int32_t step = 0;
  std::vector<std::int32_t> nodes = {};  // {-1} = the step itself
  // The cursor that shows the step done.
  capture::Tick cursor() const { return capture::make_tick(step + 1, capture::Phase::kDraft); }
  std::int32_t node() const { return nodes.front(); }
};
std::optional<StepMatch> match_in_step(const capture::Capture& capture, const StepCondition& where,
                                       std::int32_t step);
// The matches in steps first..last, as far as these are recorded to their end.
std::vector<StepMatch> steps_where(const capture::Capture& capture, const StepCondition& where,
                                   std::int32_t first, std::int32_t last);
// The last step that is recorded to its end; -1 = none.
std::int32_t last_whole_step(const capture::Capture& capture);

// "accepted 2 of 4", "node 34 '·the': rejected, argmax is …": why a step is found.
std::string match_text(const StepFacts& facts, std::int32_t node);

}  // namespace triescope::app
