// DrawTable: how one token is drawn from one row. Each token has a bar for each stage (the model's
// p, after processors, after the temperature, after each cut, q where drafts were drawn). Below
// stands the cumulative strip with u on it, or a column of Gumbel scores. Draws only the rows in
// sight.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/query/draw_decision.h"

namespace triescope::viz {

class DrawTable {
 public:
  static constexpr float kRowEm = 1.5f;

  void clear() {  // nothing is drawn: the mouse meets nothing
    rows_ = {};
    strip_ = {};
  }
  // `lit` marks the tokens that have just changed; empty = none.
  void draw(Canvas& canvas, Rect area, const DrawDecision& decision, const std::vector<char>& lit,
            const Scene& scene);
  void scroll(const Input& in, const DrawDecision& decision);
  void input(const Input& in, const DrawDecision& decision, const Scene& scene,
             Reaction& reaction) const;

 private:
  void draw_strip(Canvas& canvas, Rect area, const DrawDecision& decision, const Scene& scene);

  float scroll_ = 0;
  struct {
    Rect area;
    float row = 0;
    std::size_t first = 0, last = 0;
  } rows_;
  Rect strip_;
};

// "processors", "temperature", "top-k", ...
std::string stage_text(capture::Stage stage);
// "'·the' drawn: u 0.412 lies in its 0.300 to 0.550".
std::string draw_sentence(const DrawDecision& decision, const Scene& scene);

}  // namespace triescope::viz
