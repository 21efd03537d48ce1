#include "viz/query/leaves.h"

#include <algorithm>

namespace triescope::viz {

std::vector<Leaf> leaves_at(const capture::Capture& capture, capture::Tick cursor) {
  std::vector<Leaf> leaves;
  const auto sequences = capture.sequences();
  const auto end =
      std::partition_point(sequences.begin(), sequences.end(),
                           [&](const capture::SequenceRow& row) { return row.tick < cursor; });
  const auto take = [&](const capture::SequenceRow& row, std::int32_t rank, bool returned) {
    if (row.node >= 0) leaves.push_back({row.node, rank, row.score, returned, row.finish});
  };
  for (auto row = sequences.begin(); row != end; ++row)
    if (row->rank >= 0) take(*row, row->rank, true);
  const auto by_rank = [](const Leaf& a, const Leaf& b) { return a.rank < b.rank; };
  if (!leaves.empty()) {
    std::stable_sort(leaves.begin(), leaves.end(), by_rank);
    return leaves;
  }
  // A step whose accept phase is done and that names no frontier is the last one.
  const capture::Tick accept = static_cast<capture::Tick>(capture::Phase::kAccept);
  const auto decided = static_cast<std::int32_t>(
      cursor > accept ? (cursor - 1 - accept) / capture::kPhaseCount : -1);
  const std::int32_t step = capture.frontier_step(cursor);
  if (step < decided) {
    const capture::Tick tick = capture::make_tick(decided, capture::Phase::kAccept);
    for (auto row = sequences.begin(); row != end; ++row)
      if (row->tick == tick) take(*row, 0, false);
    std::stable_sort(leaves.begin(), leaves.end(),
                     [](const Leaf& a, const Leaf& b) { return a.score > b.score; });
    for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i].rank = static_cast<std::int32_t>(i);
    if (!leaves.empty()) return leaves;
  }
  for (const capture::FrontierRow& row : capture.frontier(step))
    leaves.push_back({row.node, row.rank, row.score, false, ""});
  return leaves;
}

std::vector<std::int32_t> text_at(const capture::Capture& capture, capture::Tick cursor) {
  const auto leaves = leaves_at(capture, cursor);
  return leaves.empty() ? std::vector<std::int32_t>() : capture.path_to(leaves.front().node);
}

}  // namespace triescope::viz
