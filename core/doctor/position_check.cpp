// Positions: prompt tokens + depth − 1, for the rows of every owner. Where all rows of an owner are off by
// the same, that is told apart.
#include <algorithm>
#include <optional>
#include <set>

#include "core/capture/row_faults.h"
#include "core/doctor/checks.h"

namespace triescope::doctor {
namespace {

using namespace capture;

struct Placed {
  const InputRow* row;
  std::int32_t off;  // from where it should stand
};

void check_positions_of(const RunView& run, Whose whose, std::vector<Finding>& out) {
  const Capture& capture = run.capture;
  const RowPositions& positions = capture.row_faults().positions(whose);
  if (positions.faulty_steps().empty()) return;
  std::vector<Placed> rows;
  for (const ForwardId forward : capture.forwards(whose))
    for (const InputRow& row : capture.inputs(forward, whose))
      if (const auto asked = positions.asked(row)) rows.push_back({&row, row.position - *asked});
  const auto& by_off = positions.by_offset();
  const bool has_prompt = positions.has_prompt();

  const auto found = [&](Code code, const Placed& placed, const char* kind, const std::string& more,
                         Sure sure) {
    const InputRow& row = *placed.row;
    out.push_back({.code = code,
                   .step = row.step,
                   .node = row.node,
                   .row = row.row,
                   .slot = row.slot,
                   .whose = whose,
                   .kind = kind,
                   .text = "the row of " + run.name(row.node) + " has position " +
                           std::to_string(row.position) + ", and should have " +
                           std::to_string(row.position - placed.off) + more,
                   .sure = sure});
  };
  const auto by = [](std::int32_t off) {
    return (off > 0 ? "+" : "−") + std::to_string(std::abs(off));
  };
  std::optional<std::int32_t> constant;
  if (by_off.size() == 1) constant = by_off.begin()->first;
  if (constant && has_prompt && rows.size() > 1) {
    for (const Placed& placed : rows)
      found(Code::kPositionOffset, placed, "all positions are off by the same amount",
            ": all rows, the prompt's too, are off by " + by(*constant) +
                ". Rotary positions are not affected; learned ones are",
            Sure::kHint);
    return;
  }
  if (constant && !has_prompt && rows.size() > 1) {
    for (const Placed& placed : rows)
      found(Code::kPositionOffset, placed, "all recorded positions are off by the same amount",
            ": all recorded rows are off by " + by(*constant) +
                ". That is harmless under rotary positions if the prompt's are off by as much",
            Sure::kLikely);
    return;
  }

  // Rows that count the batch instead of the path: in each forward the positions go up by one a row.
  std::set<std::pair<std::int32_t, std::int32_t>> sequential;
  for (const ForwardId forward : capture.forwards(whose)) {
    const auto batch = capture.inputs(forward, whose);
    if (batch.size() < 2 || batch.front().node <= -2) continue;
    bool counts = true, tree_counts = true;
    for (std::size_t i = 1; i < batch.size(); ++i) {
      counts &= batch[i].position == batch[i - 1].position + 1;
      tree_counts &=
          capture.position_of(batch[i].node) == capture.position_of(batch[i - 1].node) + 1;
    }
    if (counts && !tree_counts) sequential.emplace(forward.step, forward.forward);
  }
  // All rows behind the prompt off by the same.
  std::optional<std::int32_t> behind;
  bool same_behind = true;
  for (const Placed& placed : rows)
    if (placed.row->node > 0) {
      if (!behind) behind = placed.off;
      same_behind &= *behind == placed.off;
    }
  for (const Placed& placed : rows) {
    if (placed.off == 0) continue;
    if (sequential.contains({placed.row->step, placed.row->forward})) {
      found(Code::kPositionDepth, placed,
            "positions count the rows of the batch, so siblings differ",
            ": positions count the rows of the batch", Sure::kCertain);
    } else if (same_behind && positions.is_prompt_right() && behind.value_or(0) != 0) {
      found(Code::kPositionDepth, placed, "all rows behind the prompt are off by the same amount",
            ": all rows behind the prompt are off by " + by(placed.off), Sure::kCertain);
    } else {
      found(Code::kPositionDepth, placed, "a position is not that of its depth",
            ", prompt tokens + depth − 1: off by " + by(placed.off), Sure::kCertain);
    }
  }
}

}  // namespace

void check_positions(const RunView& run, std::vector<Finding>& out) {
  for (const Whose whose : run.capture.owners()) check_positions_of(run, whose, out);
}

}  // namespace triescope::doctor
