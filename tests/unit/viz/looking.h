// Helpers that look at a panel: a scene of a capture, its drawing, and a mouse over it.
#pragma once

#include <string>

#include "tests/unit/viz/recording_canvas.h"
#include "viz/draw/scene.h"
#include "viz/panels/panel.h"

namespace triescope::test {

inline viz::Scene scene_at(const capture::Capture& run, capture::Tick cursor) {
  viz::Scene scene;
  scene.capture = &run;
  scene.cursor = cursor;
  scene.theme = viz::dark_theme();
  scene.animate = false;
  return scene;
}

inline RecordingCanvas drawn(viz::Panel& panel, const viz::Scene& scene, viz::Rect area) {
  RecordingCanvas canvas;
  panel.draw(canvas, area, scene);
  return canvas;
}

// The first text equal to `text`; null = none.
inline const RecordingCanvas::Text* find(const RecordingCanvas& canvas, const std::string& text) {
  for (const auto& one : canvas.texts)
    if (one.text == text) return &one;
  return nullptr;
}

inline viz::Input mouse_at(viz::Point mouse) {
  viz::Input in;
  in.inside = true;
  in.mouse = in.pressed = mouse;
  return in;
}
inline viz::Input mouse_over(const RecordingCanvas::Text& text) {
  return mouse_at({text.box.x + text.box.w / 2, text.box.y + text.box.h / 2});
}

}  // namespace triescope::test
