// VerdictList: the verdicts of one step as rows: mark, token, the known figures, and the reason.
// Drafts that became text come first; withdrawn ones are one line that can be opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/query/drafter_view.h"

namespace triescope::viz {

using DrafterViews = std::map<std::int32_t, DrafterView>;  // by node

class VerdictList {
 public:
  static constexpr float kRowEm = 1.5f;

  // The verdicts given in the shown step before the cursor.
  static std::vector<capture::VerdictRow> rows_of(const Scene& scene);

  // The rows in drawing order: accepted drafts from the frontier down, the target's own token,
  // refused drafts that were looked at, refused drafts that were not, withdrawn drafts. A withdrawn
  // draft that became text is one row, the target's.
  static std::vector<capture::VerdictRow> path_first(std::vector<capture::VerdictRow> rows);

  // The number of rows that the other run decided differently.
  static std::int64_t differing(const std::vector<capture::VerdictRow>& rows, const Scene& scene);

  void clear() { shown_ = {}; }  // nothing is drawn: the mouse meets nothing
  // `drafters` holds each node's row in its drafter; nodes without one leave those columns empty.
  void draw(Canvas& canvas, Rect area, const std::vector<capture::VerdictRow>& rows,
            const Scene& scene, const DrafterViews& drafters = {});
  void scroll(const Input& in, std::size_t rows);
  void input(const Input& in, const std::vector<capture::VerdictRow>& rows, const Scene& scene,
             Reaction& reaction, const DrafterViews& drafters = {});

  // The number of lines that these rows take now.
  std::size_t lines(const std::vector<capture::VerdictRow>& rows) const;
  // The least width at which no reason is shortened.
  float width_em(Canvas& canvas, const std::vector<capture::VerdictRow>& rows, const Scene& scene,
                 const DrafterViews& drafters) const;

  bool shows_withdrawn() const { return opened_; }
  void show_withdrawn(bool shown) { opened_ = shown; }

 private:
  bool opened_ = false;
  float scroll_ = 0;
  struct {
    Rect area;
    float row = 0;
    std::size_t first = 0, last = 0;  // lines
  } shown_;
};

}  // namespace triescope::viz
