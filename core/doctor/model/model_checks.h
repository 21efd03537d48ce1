// The checks that need the weights: every recorded row is computed again from its path alone. A row
// whose numbers are others is a finding, and so is the mistake that reproduces the first of them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/doctor/finding.h"
#include "core/doctor/run_view.h"
#include "core/model/model.h"

namespace triescope::doctor {

struct ModelToCheck {
  Model& model;
  // The same weights without rope scaling, for the cause of that name; null: it has none.
  std::function<std::unique_ptr<Model>()> without_rope_scaling = {};
};

// How far a log-probability may be off: what the coarser of the two number types rounds away.
double row_tolerance(const std::string& recorded_dtype, DType computed);

void check_logits(const RunView& run, const ModelToCheck& with, std::vector<Finding>& out);
void check_greedy_text(const RunView& run, const ModelToCheck& with, std::vector<Finding>& out);

// diagnose() and these. Error{kInvalidArgument}: the model has another vocabulary than the capture's.
std::vector<FindingGroup> diagnose_with(const capture::Capture& capture, const ModelToCheck& with);

}  // namespace triescope::doctor
