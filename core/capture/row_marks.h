// RowMarks: which nodes have a row that is recorded otherwise than the tree asks, so that a picture can mark
// them. A node's newest row counts. RowFaults fills it as it goes along a run.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/capture/records.h"

namespace triescope::capture {

// How a row differs from what the tree asks for. The greater value is the graver one.
enum class RowMark : std::uint8_t {
  kNone = 0,
  kMissing,   // it does not attend to something that it should
  kRecorded,  // it attends to something else, stands elsewhere, or its KV is gone
};

class RowMarks {
 public:
  // Notes how a row differs that was computed in `tick`. Ticks ascend.
  void add(std::int32_t node, Tick tick, RowMark mark);
  void clear();

  // The mark of the node's newest row before `cursor`.
  RowMark at(std::int32_t node, Tick cursor) const;
  // Whether a row before `cursor` had the mark.
  bool has(RowMark mark, Tick cursor) const;

 private:
  struct Entry {
    Tick tick;
    RowMark mark;
  };
  // By node: its rows from the first faulty one on.
  std::unordered_map<std::int32_t, std::vector<Entry>> rows_;
  Tick first_missing_ = -1, first_recorded_ = -1;  // -1 = there is none
};

}  // namespace triescope::capture
