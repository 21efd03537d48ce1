// Where a panel drew nodes and steps, by asking it with the mouse on what it drew.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/panels/panel.h"

namespace triescope::viz {

// Keeps where boxes and letters were drawn, and nothing else.
class BoxCanvas final : public Canvas {
 public:
  explicit BoxCanvas(Canvas& measure) : measure_(measure) {}
  const std::vector<Rect>& boxes() const { return boxes_; }  // their visible parts
  const std::vector<Rect>& texts() const { return texts_; }  // those of letters alone

  void fill_rect(Rect r, Color, float) override { add(r); }
  void stroke_rect(Rect r, Color, float, LineStyle, float) override { add(r); }
  void line(Point, Point, Color, float, LineStyle) override {}
  void polyline(std::span<const Point>, Color, float, LineStyle) override {}
  void fill_polygon(std::span<const Point>, Color) override {}
  void bezier(Point, Point, Point, Point, Color, float, LineStyle) override {}
  void fill_circle(Point center, float radius, Color) override {
    add({center.x - radius, center.y - radius, 2 * radius, 2 * radius});
  }
  void stroke_circle(Point, float, Color, float) override {}
  void text(Point p, std::string_view utf8, const TextStyle& style) override;
  Point measure(std::string_view utf8, const TextStyle& style) override {
    return measure_.measure(utf8, style);
  }
  void push_clip(Rect r) override;
  void pop_clip() override;

 private:
  void add(Rect r);

  Canvas& measure_;
  std::vector<Rect> boxes_, texts_, clips_;
};

// The box of each of these nodes that the panel drew last: of several the first that is its own
// alone.
std::map<std::int32_t, Rect> node_boxes(Panel& panel, Rect area, const Scene& scene,
                                        const std::vector<Rect>& drawn,
                                        const std::vector<std::int32_t>& nodes);

// A plot along the steps: a click there goes to the step above which it lies.
struct StepPlot {
  Rect plot;
  std::map<std::int32_t, float> middles;  // by step, px
};
// nullopt: the panel has none, or none that covers the steps shown.
std::optional<StepPlot> step_plot(Panel& panel, Rect area, const Scene& scene);

}  // namespace triescope::viz
