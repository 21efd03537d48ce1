// RowTables: rows in a vector for each table, on their way from a run into a capture and in a
// capture's reader. kRowTables lists the vectors once, for whatever is done to all of them.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/capture/records.h"

namespace triescope::capture {

struct RowTables {
  std::optional<RunInfo> run = {};  // the first thing a run hands over
  std::vector<ProgramRow> programs = {};
  std::vector<DrafterRow> drafters = {};
  std::vector<PieceRow> pieces = {};
  std::vector<StepRow> steps = {};
  std::vector<NodeRow> nodes = {};
  std::vector<NodeScoreRow> node_scores = {};
  std::vector<InputRow> inputs = {};
  std::vector<CandidateRow> candidates = {};
  std::vector<StageRow> stages = {};
  std::vector<VerdictRow> verdicts = {};
  std::vector<FrontierRow> frontier = {};
  std::vector<SlotRow> slots = {};
  std::vector<MemoryRow> memory = {};
  std::vector<SequenceRow> sequences = {};
  std::vector<SeenRow> seen = {};
  std::vector<ExpertRow> experts = {};
  std::vector<MetricRow> metrics = {};
  std::vector<LogRow> log = {};
  std::vector<PhaseRow> phases = {};
  std::optional<Finish> finish = {};  // the last
};

// In the order in which they are written and read: a row comes after the rows that it refers to,
// and a phase after all that it produced.
inline constexpr std::tuple kRowTables = {
    &RowTables::programs, &RowTables::drafters,    &RowTables::pieces,   &RowTables::steps,
    &RowTables::nodes,    &RowTables::node_scores, &RowTables::inputs,   &RowTables::candidates,
    &RowTables::stages,   &RowTables::verdicts,    &RowTables::frontier, &RowTables::slots,
    &RowTables::memory,   &RowTables::sequences,   &RowTables::seen,     &RowTables::experts,
    &RowTables::metrics,  &RowTables::log,         &RowTables::phases};

// Calls visit(member) with the pointer to each vector of RowTables.
template <class Visit>
void for_each_table(Visit visit) {
  std::apply([&](const auto... member) { (visit(member), ...); }, kRowTables);
}

// The Row of a std::vector<Row> RowTables::*.
template <class Row>
Row row_of(std::vector<Row> RowTables::*);
template <class Member>
using RowOf = decltype(row_of(std::declval<Member>()));

}  // namespace triescope::capture
