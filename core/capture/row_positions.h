// RowPositions: where the rows of an owner's forwards stand, held against prompt tokens + depth − 1. A row
// of a draft head stands one before that (where the hidden state that it reads stands), or not: recorders of
// heads do either, so the smaller fault is taken. Borrows the capture, which may grow meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::capture {

class RowPositions {
 public:
  RowPositions(const Capture& capture, Whose whose) : capture_(&capture), whose_(whose) {}

  void extend();  // reads the rows that came since

  // The position that the tree asks a row for; nullopt: the rows of this owner are not judged, because
  // they have no positions (a file without the column: all are 0).
  std::optional<std::int32_t> asked(const InputRow& row) const;
  bool is_right(const InputRow& row) const {
    const auto position = asked(row);
    return !position || *position == row.position;
  }
  std::vector<std::int32_t> faulty_steps() const;  // ascending

  // Number of rows by how far they stand from prompt tokens + depth − 1.
  const std::map<std::int32_t, std::int64_t>& by_offset() const { return by_offset_; }
  // The number added to that for all rows of the owner: 0, or -1.
  std::int32_t shift() const;
  std::int64_t rows() const { return rows_; }
  bool has_prompt() const { return has_prompt_; }
  bool is_prompt_right() const { return is_prompt_right_; }

 private:
  bool is_judged() const { return rows_ > 0 && !(rows_ > 1 && are_alike_ && first_ == 0); }

  const Capture* capture_;
  Whose whose_;
  std::size_t next_ = 0;  // among capture.forwards()
  std::map<std::int32_t, std::int64_t> by_offset_;
  std::vector<std::pair<std::int32_t, std::int32_t>> offsets_;  // step, offset: each that occurs
  std::int64_t rows_ = 0;
  std::int32_t first_ = 0;  // the first row's position
  bool has_prompt_ = false, are_alike_ = true, is_prompt_right_ = true;
};

}  // namespace triescope::capture
