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
  void run(const capture::RunInfo& info) override { run_info = info; }
  void piece(std::int32_t token, std::string_view bytes) override { pieces[token] = bytes; }
  void step(const capture::StepRow& row) override { steps.push_back(row); }
  void phase(const capture::PhaseRow& row) override { phases.push_back(row); }
  void nodes(std::span<const capture::NodeRow> rows) override { append(node_rows, rows); }
  void node_scores(std::span<const capture::NodeScoreRow> rows) override {
    append(score_rows, rows);
  }
  void inputs(std::span<const capture::InputRow> rows) override { append(input_rows, rows); }
  void candidates(std::span<const capture::CandidateRow> rows) override {
    append(candidate_rows, rows);
  }
  void verdicts(std::span<const capture::VerdictRow> rows) override { append(verdict_rows, rows); }
  void frontier(std::span<const capture::FrontierRow> rows) override {
    append(frontier_rows, rows);
  }
  void slots(std::span<const capture::SlotRow> rows) override { append(slot_rows, rows); }
  void memory(const capture::MemoryRow& row) override { memory_rows.push_back(row); }
  void sequence(const capture::SequenceRow& row) override { sequence_rows.push_back(row); }
  void log(const capture::LogRow& row) override { log_rows.push_back(row); }
  void finish(capture::RunStatus s, std::string_view message) override {
    status = s;
    status_message = message;
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
  std::vector<capture::VerdictRow> verdict_rows;
  std::vector<capture::FrontierRow> frontier_rows;
  std::vector<capture::SlotRow> slot_rows;
  std::vector<capture::MemoryRow> memory_rows;
  std::vector<capture::SequenceRow> sequence_rows;
  std::vector<capture::LogRow> log_rows;
  capture::RunStatus status = capture::RunStatus::kRunning;
  std::string status_message;
  int finishes = 0, flushes = 0;

 private:
  template <class T>
  static void append(std::vector<T>& to, std::span<const T> rows) {
    to.insert(to.end(), rows.begin(), rows.end());
  }
  capture::Level level_;
};

}  // namespace triescope::test
