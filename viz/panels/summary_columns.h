// SummaryColumns: sections of lines in as many columns as the width has room for, each with its
// label, its bar if it is a share, and its value in whole. What does not fit scrolls.
#pragma once

#include <cstddef>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/panels/page_scroll.h"
#include "viz/panels/run_summary.h"

namespace triescope::viz {

class SummaryColumns {
 public:
  void draw(Canvas& canvas, Rect area, const std::vector<SummarySection>& sections,
            const Scene& scene);
  void clear();
  // The tooltip of what lies under the mouse; a click on a section's title asks for its panel.
  void input(const Input& in, const Scene& scene, Reaction& reaction);
  // The least height in which all of it stands in `columns` columns of together `width` px.
  static float height(Canvas& canvas, float width, std::size_t columns,
                      const std::vector<SummarySection>& sections, const Scene& scene);

 private:
  struct Shown {
    Rect box;
    std::vector<std::string> tooltip;
    std::string panel;
  };
  std::vector<Shown> shown_;
  PageScroll scroll_;
};

}  // namespace triescope::viz
