// OwnerSwitch: a panel's choice of whose rows it shows, as a small switch "target | draft model" in
// its header. Where a capture holds rows of one model alone there is nothing to choose: nothing is
// drawn, and the rows are the target's.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/panels/row_source.h"

namespace triescope::viz {

class OwnerSwitch {
 public:
  // For the help of a panel that has a switch.
  static constexpr const char* kHelp =
      " Where a draft model or a draft head ran too, the switch at the top right chooses whose rows "
      "are shown, as comma and full stop do.";

  // The rows to show: those chosen where this capture has them, else the target's.
  RowSource source(const Scene& scene) const;
  // Draws the switch with its top right corner at `top_right`, in `room` px at most; an empty area
  // where there is nothing to choose, and in exports.
  Rect draw(Canvas& canvas, Point top_right, float room, const Scene& scene);
  // Input::next and previous choose the next owner and the one before. True: the mouse is over the
  // switch, and nothing else of the panel.
  bool input(const Input& in, const Scene& scene, Reaction& reaction);
  // For an export: whose rows are shown; "" where the capture has only one owner.
  std::string name(const Scene& scene) const;

  // A part of a panel's view state: "whose=draft"; "" until the user has chosen.
  std::string state() const;
  void set_state(const std::string& view_state);  // finds its part; anything unknown is ignored

 private:
  std::optional<capture::Whose> chosen_;
  std::vector<std::pair<Rect, capture::Whose>> parts_;  // as drawn
};

// In place of a step's rows, where a model other than the target has none.
std::string no_rows_text(const RowSource& source, const Scene& scene);

}  // namespace triescope::viz
