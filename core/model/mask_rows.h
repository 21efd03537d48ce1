// What the rows of a batch with masks see (MaskBatch): the batch's own lists, in which the own slots
// of every mask row begin with the masks' prefix. A sliding window leaves out text, never the prefix,
// so a layer with a window takes the mask rows by lists of their own. Borrows the batch; without masks
// it is the batch's lists and costs nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model.h"
#include "core/model/visible_slots.h"

namespace triescope {

class MaskRows {
 public:
  // `visible`: check_batch's.
  MaskRows(const ForwardBatch& batch, const VisibleSlots& visible);
  MaskRows(const MaskRows&) = delete;
  MaskRows& operator=(const MaskRows&) = delete;

  // The rows [first(), rows of the batch) are masks.
  std::size_t first() const { return first_; }
  std::size_t count() const { return count_; }
  // Some row sees a prefix that no window may leave out.
  bool has_prefix() const { return count_ > 0 && !prefix_.empty(); }
  std::size_t prefix() const { return prefix_.size(); }

  // All rows, for a layer without a window.
  const VisibleSlots& all() const { return all_; }
  // For a layer with a window: the rows before the masks, which the window is for, and the masks, whose
  // lists hold what it leaves of them. Valid until the next call.
  VisibleSlots before() const;
  VisibleSlots in_window(int window);

 private:
  VisibleSlots visible_;  // as the batch has them
  std::size_t first_, count_;
  std::span<const std::int32_t> prefix_;
  VisibleSlots all_;
  std::vector<std::int32_t> own_, offsets_;
  int window_ = 0;  // of the lists below; 0: none were made
  std::vector<std::int32_t> window_own_, window_offsets_;
};

}  // namespace triescope
