#include "core/capture/row_positions.h"

#include <set>

namespace triescope::capture {

void RowPositions::extend() {
  const auto forwards = capture_->forwards(whose_);
  for (; next_ < forwards.size(); ++next_) {
    std::set<std::int32_t> of_forward;
    for (const InputRow& row : capture_->inputs(forwards[next_], whose_)) {
      const std::int32_t place = capture_->position_of(row.node);
      if (place < 0) continue;
      if (rows_++ == 0) first_ = row.position;
      const std::int32_t offset = row.position - place;
      ++by_offset_[offset];
      of_forward.insert(offset);
      are_alike_ &= row.position == first_;
      if (row.node > -2) continue;
      has_prompt_ = true;
      is_prompt_right_ &= offset == 0 || (whose_ != Whose::kTarget && offset == -1);
    }
    for (const std::int32_t offset : of_forward)
      if (const std::pair one(forwards[next_].step, offset);
          offsets_.empty() || offsets_.back() != one)
        offsets_.push_back(one);
  }
}

std::int32_t RowPositions::shift() const {
  const auto one_less = by_offset_.find(-1);
  if (whose_ == Whose::kTarget || one_less == by_offset_.end()) return 0;
  const bool is_all = one_less->second == rows_;
  return is_all || (whose_ == Whose::kHead && one_less->second * 2 > rows_) ? -1 : 0;
}

std::optional<std::int32_t> RowPositions::asked(const InputRow& row) const {
  const std::int32_t place = capture_->position_of(row.node);
  if (!is_judged() || place < 0) return std::nullopt;
  return place + shift();
}

std::vector<std::int32_t> RowPositions::faulty_steps() const {
  std::vector<std::int32_t> steps;
  if (!is_judged()) return steps;
  const std::int32_t shift = this->shift();
  for (const auto& [step, offset] : offsets_)
    if (offset != shift && (steps.empty() || steps.back() != step)) steps.push_back(step);
  return steps;
}

}  // namespace triescope::capture
