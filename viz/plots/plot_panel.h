// What all plots share: a panel of a structure, and its title.
#pragma once

#include <string>
#include <utility>

#include "viz/draw/drawing.h"
#include "viz/panels/panel.h"
#include "viz/text/plot_number.h"

namespace triescope::viz {

inline constexpr float kPlotTitleEm = 2.0f;  // the height of a plot's title

template <class Data>
class PlotPanel : public Panel {
 public:
  explicit PlotPanel(Data data)
      : data_(std::move(data)), info_{data_.name, data_.title, "", "", "There is no figure yet."} {}
  const PanelInfo& info() const override { return info_; }

 protected:
  // Draws the title; returns the room below it.
  Rect below_title(Canvas& canvas, Rect area, const Scene& scene) const {
    const float taken = scene.em * kPlotTitleEm;
    text_in(canvas, {area.x, area.y, area.w, scene.em * 1.4f}, data_.title, bold_text(scene));
    return {area.x, area.y + taken, area.w, area.h - taken};
  }
  const Data data_;

 private:
  PanelInfo info_;
};

}  // namespace triescope::viz
