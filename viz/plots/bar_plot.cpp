// Bars beside each other: rows by groups.
#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "viz/layouts/axis.h"
#include "viz/plots/plot_panel.h"
#include "viz/plots/plots.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kBarRowEm = 1.5f, kBarHeadEm = 1.6f, kBarGroupEm = 8.5f, kBarApartEm = 1.0f,
                kBarAxisEm = 1.5f;

class BarPanel final : public PlotPanel<BarPlot> {
 public:
  using PlotPanel::PlotPanel;

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    if (data_.rows.empty() || data_.groups.empty())
      return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em;
    const Rect room = below_title(canvas, area, scene);
    const float names = names_width(canvas, scene);
    const auto groups = static_cast<float>(data_.groups.size());
    const float pitch = (room.w - names + em * kBarApartEm) / groups;
    const float height = em * kBarRowEm * static_cast<float>(data_.rows.size());
    for (std::size_t r = 0; r < data_.rows.size(); ++r)
      text_in(canvas, {room.x, row_top(room, r, em), names - em * 0.8f, em * kBarRowEm},
              data_.rows[r].name, ui_text(scene, 0.9f), Align::kRight);
    for (std::size_t g = 0; g < data_.groups.size(); ++g) {
      const Rect plot{room.x + names + pitch * static_cast<float>(g), room.y + em * kBarHeadEm,
                      pitch - em * kBarApartEm, height};
      text_in(canvas, {plot.x, room.y, plot.w, em * 1.4f}, data_.groups[g], bold_text(scene, 0.9f));
      draw_group(canvas, plot, g, scene);
    }
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    return {names_width(canvas, scene) +
                scene.em * ((kBarGroupEm + kBarApartEm) * static_cast<float>(data_.groups.size()) -
                            kBarApartEm),
            scene.em * (kPlotTitleEm + kBarHeadEm + kBarAxisEm +
                        kBarRowEm * static_cast<float>(data_.rows.size()))};
  }

  std::string csv(const Scene&) const override {
    std::ostringstream out;
    out << "row,group,value\n";
    for (const BarPlot::Row& row : data_.rows)
      for (std::size_t g = 0; g < data_.groups.size(); ++g)
        out << csv_field(row.name) << ',' << csv_field(data_.groups[g]) << ','
            << csv_double(row.values[g]) << '\n';
    return out.str();
  }

 private:
  static float row_top(Rect room, std::size_t row, float em) {
    return room.y + em * (kBarHeadEm + kBarRowEm * static_cast<float>(row));
  }

  float names_width(Canvas& canvas, const Scene& scene) const {
    float width = 0;
    for (const BarPlot::Row& row : data_.rows)
      width = std::max(width, canvas.measure(row.name, ui_text(scene, 0.9f)).x);
    return std::min(width, scene.em * 22) + scene.em;
  }

  double largest() const {
    double most = std::isnan(data_.reference) ? 0 : data_.reference;
    for (const BarPlot::Row& row : data_.rows)
      for (const double value : row.values)
        if (std::isfinite(value)) most = std::max(most, value);
    return most > 0 ? most : 1;
  }

  double best_of(std::size_t group) const {
    double best = 0;
    for (const BarPlot::Row& row : data_.rows)
      if (std::isfinite(row.values[group])) best = std::max(best, row.values[group]);
    return best;
  }

  // Bars of one group; the value stands behind its bar, the group's largest in bold letters.
  void draw_group(Canvas& canvas, Rect plot, std::size_t group, const Scene& scene) const {
    const float em = scene.em;
    const TextStyle small = dim_text(scene, 0.78f);
    const AxisScale x{0, largest(), plot.x, plot.right() - em * 2.4f};
    for (const double tick : nice_ticks(0, largest(), 3)) {
      canvas.line({x.px(tick), plot.y}, {x.px(tick), plot.bottom()}, scene.theme.grid);
      draw_x_label(canvas, x.px(tick), plot.bottom() + em * 0.2f, em, plot.x - em, plot.right(),
                   round_text(tick), small);
    }
    const double best =
        data_.more_is_better ? best_of(group) : std::numeric_limits<double>::quiet_NaN();
    for (std::size_t r = 0; r < data_.rows.size(); ++r) {
      const double value = data_.rows[r].values[group];
      const Rect line{plot.x, plot.y + em * kBarRowEm * static_cast<float>(r), plot.w,
                      em * kBarRowEm};
      if (!std::isfinite(value)) {
        text_in(canvas, line, "–", small);
        continue;
      }
      const Color color = scene.theme.series(0);
      canvas.fill_rect({plot.x, line.y + em * 0.25f, x.px(value) - plot.x, em},
                       value == best ? color : color.with_alpha(0.55f));
    }
    if (!std::isnan(data_.reference))
      canvas.line({x.px(data_.reference), plot.y}, {x.px(data_.reference), plot.bottom()},
                  scene.theme.text, 1, LineStyle::kDashed);
    for (std::size_t r = 0; r < data_.rows.size(); ++r) {
      const double value = data_.rows[r].values[group];
      if (!std::isfinite(value)) continue;
      const TextStyle style = value == best ? bold_text(scene, 0.8f) : ui_text(scene, 0.8f);
      const std::string words = plot_number(value);
      const Rect box{x.px(value) + em * 0.2f,
                     plot.y + em * (kBarRowEm * static_cast<float>(r) + 0.2f),
                     canvas.measure(words, style).x + em * 0.2f, em * (kBarRowEm - 0.4f)};
      canvas.fill_rect(box, scene.theme.background);  // no line through its digits
      text_in(canvas, box, words, style, Align::kCenter);
    }
    canvas.line({plot.x, plot.y}, {plot.x, plot.bottom()}, scene.theme.border);
  }
};

}  // namespace

std::unique_ptr<Panel> make_bar_plot(BarPlot plot) {
  return std::make_unique<BarPanel>(std::move(plot));
}

}  // namespace triescope::viz
