// CandidateTable: the best tokens of one model's row under each other, with bars. The tokens that
// became children are marked.
#pragma once

#include <cstddef>
#include <span>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/panels/row_source.h"

namespace triescope::viz {

class CandidateTable {
 public:
  static constexpr float kRowEm = 1.5f;

  // The heads of the columns, then as many rows as fit; the last line counts the rest.
  void draw(Canvas& canvas, Rect whole, std::span<const capture::CandidateRow> rows,
            const RowSource& source, const Scene& scene);
  // The row under the mouse; null = none.
  const capture::CandidateRow* at(Point mouse, std::span<const capture::CandidateRow> rows) const;
  void clear() { *this = {}; }

  // True if the token became a child by the cursor.
  static bool took(const capture::CandidateRow& row, const RowSource& source, const Scene& scene);

 private:
  Rect area_;
  float row_ = 0;
  std::size_t shown_ = 0;  // rows that fitted
};

}  // namespace triescope::viz
