#include "core/capture/row_marks.h"

namespace triescope::capture {

void RowMarks::add(std::int32_t node, Tick tick, RowMark mark) {
  if (mark == RowMark::kNone) {
    if (const auto found = rows_.find(node); found != rows_.end())
      found->second.push_back({tick, mark});
    return;
  }
  Tick& first = mark == RowMark::kMissing ? first_missing_ : first_recorded_;
  if (first < 0) first = tick;
  rows_[node].push_back({tick, mark});
}

void RowMarks::clear() { *this = {}; }

RowMark RowMarks::at(std::int32_t node, Tick cursor) const {
  const auto found = rows_.find(node);
  if (found == rows_.end()) return RowMark::kNone;
  for (auto entry = found->second.rbegin(); entry != found->second.rend(); ++entry)
    if (entry->tick < cursor) return entry->mark;
  return RowMark::kNone;
}

bool RowMarks::has(RowMark mark, Tick cursor) const {
  const Tick first = mark == RowMark::kMissing ? first_missing_ : first_recorded_;
  return first >= 0 && first < cursor;
}

}  // namespace triescope::capture
