// A row that was recorded, and the numbers of one that was computed, against each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/capture/records.h"
#include "core/doctor/model/row_oracle.h"
#include "core/doctor/run_view.h"

namespace triescope::doctor {

struct RecordedRow {
  std::int32_t step = -1, node = 0;                  // whose next token it is about
  std::span<const capture::CandidateRow> best = {};  // as recorded
};

// The prompt and the path to a node, each cell at its place.
std::vector<Cell> cells_of(const RunView& run, std::int32_t node);
// Largest difference of a recorded log-probability to those that the logits make.
double distance(const RecordedRow& row, std::span<const float> logits);
std::vector<float> log_softmax(std::span<const float> logits, double temperature = 1);

}  // namespace triescope::doctor
