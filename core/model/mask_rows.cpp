#include "core/model/mask_rows.h"

#include <algorithm>

namespace triescope {

MaskRows::MaskRows(const ForwardBatch& batch, const VisibleSlots& visible)
    : visible_(visible),
      first_(batch.tokens.size() - static_cast<std::size_t>(batch.masks.rows)),
      count_(static_cast<std::size_t>(batch.masks.rows)),
      prefix_(batch.masks.prefix_slots),
      all_(visible) {
  if (!has_prefix()) return;
  const auto text = static_cast<std::ptrdiff_t>(visible.offsets[first_]);
  own_.reserve(visible.own.size() + count_ * prefix_.size());
  own_.assign(visible.own.begin(), visible.own.begin() + text);
  offsets_.assign(visible.offsets.begin(),
                  visible.offsets.begin() + static_cast<std::ptrdiff_t>(first_) + 1);
  for (std::size_t row = first_; row < first_ + count_; ++row) {
    own_.insert(own_.end(), prefix_.begin(), prefix_.end());
    const std::span<const std::int32_t> path = visible.of(row);
    own_.insert(own_.end(), path.begin(), path.end());
    offsets_.push_back(static_cast<std::int32_t>(own_.size()));
  }
  all_.own = own_;
  all_.offsets = offsets_;
}

VisibleSlots MaskRows::before() const {
  return {visible_.prefix, visible_.own, visible_.offsets.first(first_ + 1)};
}

VisibleSlots MaskRows::in_window(int window) {
  if (window != window_) {
    window_ = window;
    window_own_.clear();
    window_offsets_.assign(1, 0);
    const auto most = static_cast<std::size_t>(window);
    for (std::size_t row = first_; row < first_ + count_; ++row) {
      const std::span<const std::int32_t> path = visible_.of(row);
      const std::size_t own = std::min(path.size(), most);
      const std::size_t shared = std::min(visible_.prefix.size(), most - own);
      const auto text = visible_.prefix.last(shared), below = path.last(own);
      window_own_.insert(window_own_.end(), prefix_.begin(), prefix_.end());
      window_own_.insert(window_own_.end(), text.begin(), text.end());
      window_own_.insert(window_own_.end(), below.begin(), below.end());
      window_offsets_.push_back(static_cast<std::int32_t>(window_own_.size()));
    }
  }
  return {{}, window_own_, window_offsets_};
}

}  // namespace triescope
