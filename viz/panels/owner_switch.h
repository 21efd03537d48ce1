// OwnerSwitch: a panel's choice of the model whose rows it shows, as a small switch "target | draft
// model" in its header. Where a capture holds rows of one model only, nothing is drawn and the rows
// are the target's.
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

  // The rows to show: the chosen model's where this capture has them, else the target's.
  RowSource source(const Scene& scene) const;
  // Draws the switch in the top right corner of a panel's area. Returns an empty area in exports and
  // where there is no choice.
  Rect draw(Canvas& canvas, Rect area, const Scene& scene);
  // The width that it takes there, in px; 0 where it draws nothing.
  float width(Canvas& canvas, Rect area, const Scene& scene) const;
  // Input::next and previous choose the next owner or the one before. True: the mouse is over the
  // switch, so nothing else of the panel takes it.
  bool input(const Input& in, const Scene& scene, Reaction& reaction);
  // The owner's name for an export; "" where the capture has only one.
  std::string name(const Scene& scene) const;

  // A part of the panel's view state: "whose=draft"; "" until the user has chosen.
  std::string state() const;
  void set_state(const std::string& view_state);  // finds its part; ignores the others

 private:
  std::optional<capture::Whose> chosen_;
  std::vector<std::pair<Rect, capture::Whose>> parts_;  // as drawn
};

// The text in place of a step's rows where a model other than the target has none.
std::string no_rows_text(const RowSource& source, const Scene& scene);

}  // namespace triescope::viz
