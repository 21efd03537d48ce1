// A recorder that keeps every row in memory, for tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/capture/recorder.h"

namespace triescope::test {

class MemoryRecorder final : public capture::Recorder {
 public:
  explicit MemoryRecorder(capture::Level level = capture::Level::kFull) : level_(level) {}
  capture::Level level() const override { return level_; }
  void write(const capture::RowTables& rows) override {
    writes += 1;
    if (rows.run) run_info = *rows.run;
    for (const auto& row : rows.pieces) pieces.try_emplace(row.token, row.bytes);
    append(steps, rows.steps);
    append(phases, rows.phases);
    append(node_rows, rows.nodes);
    append(score_rows, rows.node_scores);
    append(input_rows, rows.inputs);
    append(candidate_rows, rows.candidates);
    append(stage_rows, rows.stages);
    append(expert_rows, rows.experts);
    append(verdict_rows, rows.verdicts);
    append(frontier_rows, rows.frontier);
    append(slot_rows, rows.slots);
    append(memory_rows, rows.memory);
    append(sequence_rows, rows.sequences);
    append(log_rows, rows.log);
    append(metric_rows, rows.metrics);
    if (!rows.finish) return;
    status = rows.finish->status;
    status_message = rows.finish->message;
    finishes += 1;
  }
  void flush() override { flushes += 1; }

  capture::RunInfo run_info;
  std::map<std::int32_t, std::string> pieces;
  std::vector<capture::StepRow> steps;
  std::vector<capture::PhaseRow> phases;
  std::vector<capture::NodeRow> node_rows;
  std::vector<capture::NodeScoreRow> score_rows;
  std::vector<capture::InputRow> input_rows;
  std::vector<capture::CandidateRow> candidate_rows;
  std::vector<capture::StageRow> stage_rows;
  std::vector<capture::ExpertRow> expert_rows;
  std::vector<capture::VerdictRow> verdict_rows;
  std::vector<capture::FrontierRow> frontier_rows;
  std::vector<capture::SlotRow> slot_rows;
  std::vector<capture::MemoryRow> memory_rows;
  std::vector<capture::SequenceRow> sequence_rows;
  std::vector<capture::LogRow> log_rows;
  std::vector<capture::MetricRow> metric_rows;
  capture::RunStatus status = capture::RunStatus::kRunning;
  std::string status_message;
  int writes = 0, finishes = 0, flushes = 0;

 private:
  template <class T>
  static void append(std::vector<T>& to, const std::vector<T>& rows) {
    to.insert(to.end(), rows.begin(), rows.end());
  }
  capture::Level level_;
};

}  // namespace triescope::test
