// StepFacts: what one step recorded, as far as conditions on steps look at it (step_condition.h). Of a
// capture, or of the step that is being recorded. Borrowed rows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/row_tables.h"
#include "lessons/step_rows.h"

namespace triescope::app {

struct StepFacts {
  lessons::StepRows rows = {};
  std::vector<std::span<const capture::CandidateRow>> candidates = {};  // of all owners
  std::span<const capture::MetricRow> metrics = {};
  std::int32_t prompt_tokens = 0;
  // As known at the end of the step; nullopt = there is none.
  std::function<std::optional<capture::NodeRow>(std::int32_t node)> node_of;
  std::function<std::optional<std::string_view>(std::int32_t token)> piece_of;
  std::function<std::string_view(const capture::NodeRow& node)> source_of;  // Capture::source_of()
};

StepFacts facts_of_step(const capture::Capture& capture, std::int32_t step);

// Keeps the rows of the step that a run is recording. One thread.
class StepGatherer {
 public:
  // Takes a phase's rows in. A step's rows stay until rows of the next step come. The same rows may
  // come again if undo() was called in between.
  void add(const capture::RowTables& rows);
  // Takes the rows of the last add() out. Nodes stay, since they come again as they were, and a step
  // that was over is gone.
  void undo();
  // The step whose figures came with the last add(); nullopt = its step is not over yet.
  // `piece_of` and this object are borrowed by what is returned.
  std::optional<StepFacts> finished(
      std::function<std::optional<std::string_view>(std::int32_t token)> piece_of) const;
  std::optional<capture::NodeRow> node(std::int32_t node) const;

 private:
  struct Rows {
    std::vector<capture::InputRow> inputs;
    std::vector<capture::VerdictRow> verdicts;
    std::vector<capture::SlotRow> slots;
    std::vector<capture::PhaseRow> phases;
    std::vector<capture::CandidateRow> candidates;
    std::vector<capture::MetricRow> metrics;
    std::vector<capture::ExpertRow> experts;
    std::optional<capture::MemoryRow> memory;
    std::optional<capture::StepRow> figures;
  };

  // How many rows of the step there were.
  struct Sizes {
    std::size_t inputs = 0, slots = 0, verdicts = 0, phases = 0, candidates = 0, metrics = 0,
                experts = 0;
    std::optional<capture::MemoryRow> memory = {};
  };

  Rows rows_;
  Sizes before_;  // as the last add() found them
  std::vector<capture::NodeRow> nodes_;
  std::vector<capture::DrafterRow> drafters_;
  std::int32_t prompt_tokens_ = 0;
};

}  // namespace triescope::app
