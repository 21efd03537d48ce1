// VerdictList: the decisions of one step as rows: mark, token, the figures that are known, and
// why.
#pragma once

#include <cstddef>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/look/scene.h"

namespace triescope::viz {

class VerdictList {
 public:
  static constexpr float kRowEm = 1.5f;

  // What was decided in the shown step before the cursor.
  static std::vector<capture::VerdictRow> rows_of(const Scene& scene);

  // As they are drawn: drafts that were looked at and refused, what came in their place, the rest.
  static std::vector<capture::VerdictRow> rejected_first(std::vector<capture::VerdictRow> rows);

  // Decided differently in the run beside this one.
  static std::int64_t differing(const std::vector<capture::VerdictRow>& rows, const Scene& scene);

  void clear() { shown_ = {}; }  // nothing is drawn: the mouse meets nothing
  void draw(Canvas& canvas, Rect area, const std::vector<capture::VerdictRow>& rows,
            const Scene& scene);
  void scroll(const Input& in, std::size_t rows);
  void input(const Input& in, const std::vector<capture::VerdictRow>& rows, const Scene& scene,
             Reaction& reaction) const;

 private:
  float scroll_ = 0;
  struct {
    Rect area;
    float row = 0;
    std::size_t first = 0, last = 0;
  } shown_;
};

}  // namespace triescope::viz
