// The values of names that conditions on steps know of a node which a step decided. Pure.
#pragma once

#include <string>
#include <vector>

#include "app/session/step_facts.h"
#include "lessons/value.h"

namespace triescope::app {

struct DecidedNode {
  capture::NodeRow row;
  capture::VerdictRow verdict;
  std::int32_t level = 1;  // 1 = directly below where the step began
  bool reached = true;     // no draft above it was refused or withdrawn in this step
};

// One for each verdict about a known node, in the order of the verdicts.
std::vector<DecidedNode> decided_nodes(const StepFacts& facts);

// REQUIRES: a name of node_names() (step_condition.h). A number that is not known is NaN.
lessons::Value node_value(const StepFacts& facts, const DecidedNode& node, const std::string& name);
// The node's own figure of this name, else the step's; NaN = none.
double metric_value(const StepFacts& facts, std::int32_t node, const std::string& metric);
// A value of the kind that the name of a condition has.
lessons::Value sample_value(const std::string& name);

}  // namespace triescope::app
