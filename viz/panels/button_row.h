// ButtonRow: small buttons beside each other at the top of a panel. They go on in a new line where
// the room ends.
#pragma once

#include <string>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

class ButtonRow {
 public:
  // Draws from the top of `room` down. Borrows the canvas and the scene.
  ButtonRow(Canvas& canvas, Rect room, const Scene& scene);

  // The next box of this width, in a new line where it does not fit.
  Rect place(float width);
  // Begins a new line if this much does not fit into the current one.
  void keep_together(float width);
  void skip(float width) { x_ += width; }
  void draw(Rect box, const std::string& label, bool is_on) const;
  // A box as wide as its label, drawn.
  Rect button(const std::string& label, bool is_on);

  float last_line() const { return y_ - room_.y; }  // from the top of the room to its last line
  const TextStyle& on() const { return on_; }
  const TextStyle& off() const { return off_; }

 private:
  Canvas& canvas_;
  const Scene& scene_;
  Rect room_;
  TextStyle on_, off_;
  float x_, y_;
};

}  // namespace triescope::viz
