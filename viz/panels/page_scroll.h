// PageScroll: how far a panel is scrolled whose content is higher than the panel. Corners at the right edge say
// that more lies above or below, out of sight; a click on one turns a page.
#pragma once

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

class PageScroll {
 public:
  // Tells that the content is `overflow` px higher than its area. Until somebody scrolls it stands at `start`.
  void fit(float overflow, float start = 0);
  float at() const { return at_; }  // px from the top
  float overflow() const { return overflow_; }
  void follow() { moved_ = false; }  // stands at `start` again

  // Draws the corners where there is more; `page` px are turned.
  void draw_corners(Canvas& canvas, Rect area, float page, bool above, bool below,
                    const Scene& scene);
  void draw_corners(Canvas& canvas, Rect area, const Scene& scene);
  void clear() { above_ = below_ = {}; }  // no corner is drawn: the mouse meets none
  // Takes the wheel, a drag, and clicks on a corner. Returns whether the mouse is over one.
  bool input(const Input& in, const Scene& scene, Reaction& reaction);

 private:
  void move(float by);

  float at_ = 0, overflow_ = 0, page_ = 0;
  float wanted_ = 0;  // where somebody scrolled to; what is drawn may be shorter for a while
  bool moved_ = false;
  Rect above_, below_;  // as drawn
};

}  // namespace triescope::viz
