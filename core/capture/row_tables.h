// The rows of a capture, a vector a table: what a batch carries to the writer and what a reader
// holds.
#pragma once

#include <vector>

#include "core/capture/records.h"

namespace triescope::capture {

struct RowTables {
  std::vector<StepRow> steps;
  std::vector<PhaseRow> phases;
  std::vector<NodeRow> nodes;
  std::vector<NodeScoreRow> node_scores;
  std::vector<InputRow> inputs;
  std::vector<CandidateRow> candidates;
  std::vector<VerdictRow> verdicts;
  std::vector<FrontierRow> frontier;
  std::vector<SlotRow> slots;
  std::vector<MemoryRow> memory;
  std::vector<SequenceRow> sequences;
  std::vector<LogRow> log;
};

}  // namespace triescope::capture
