// Curves over steps, each named at its end.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/layouts/axis.h"
#include "viz/plots/plot_panel.h"
#include "viz/plots/plots.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kCurveLeftEm = 4.0f, kCurveBelowEm = 2.8f;

class CurvePanel final : public PlotPanel<CurvePlot> {
 public:
  using PlotPanel::PlotPanel;

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    const std::size_t length = longest();
    if (length < 2) return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em;
    const Rect room = below_title(canvas, area, scene);
    const TextStyle small = dim_text(scene, 0.8f);
    text_in(canvas, {room.x, room.y, room.w, em * 1.2f}, data_.y_name, small);
    const Rect plot{room.x + em * kCurveLeftEm, room.y + em * 1.6f,
                    room.w - em * kCurveLeftEm - names_width(canvas, scene),
                    room.h - em * (1.6f + kCurveBelowEm)};
    const AxisScale x{0, static_cast<double>(length - 1), plot.x, plot.right()},
        y{0, largest() * 1.05, plot.bottom(), plot.y};
    for (const double tick : nice_ticks(0, y.high, 5)) {
      canvas.line({plot.x, y.px(tick)}, {plot.right(), y.px(tick)}, scene.theme.grid);
      text_in(canvas, {room.x, y.px(tick) - em * 0.6f, em * (kCurveLeftEm - 0.5f), em * 1.2f},
              round_text(tick), small, Align::kRight);
    }
    for (const double tick : nice_integer_ticks(0, x.high, 8))
      draw_x_label(canvas, x.px(tick), plot.bottom() + em * 0.2f, em * 1.1f, plot.x - em * 2,
                   plot.right() + em * 2, round_text(tick), small);
    text_in(canvas, {plot.x, plot.bottom() + em * 1.4f, plot.w, em * 1.2f}, data_.x_name, small,
            Align::kCenter);
    canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, scene.theme.border);
    for (std::size_t i = 0; i < data_.curves.size(); ++i) {
      std::vector<Point> points;
      const CurvePlot::Curve& curve = data_.curves[i];
      for (std::size_t k = 0; k < curve.values.size(); ++k)
        if (std::isfinite(curve.values[k]))
          points.push_back({x.px(static_cast<double>(k)), y.px(curve.values[k])});
      if (points.size() > 1) canvas.polyline(points, color_of(i, scene), 2, curve.line);
    }
    draw_names(canvas, plot, y, scene);
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    return {scene.em * (kCurveLeftEm + 40) + names_width(canvas, scene), scene.em * 22};
  }

  std::string csv(const Scene&) const override {
    std::ostringstream out;
    out << "x";
    for (const CurvePlot::Curve& curve : data_.curves) out << ',' << csv_field(curve.name);
    out << '\n';
    for (std::size_t k = 0; k < longest(); ++k) {
      out << k;
      for (const CurvePlot::Curve& curve : data_.curves)
        out << ',' << (k < curve.values.size() ? csv_double(curve.values[k]) : "");
      out << '\n';
    }
    return out.str();
  }

 private:
  std::size_t longest() const {
    std::size_t most = 0;
    for (const CurvePlot::Curve& curve : data_.curves) most = std::max(most, curve.values.size());
    return most;
  }

  double largest() const {
    double most = 0;
    for (const CurvePlot::Curve& curve : data_.curves)
      for (const double value : curve.values)
        if (std::isfinite(value)) most = std::max(most, value);
    return most > 0 ? most : 1;
  }

  // References do not count: the others begin with the first colour.
  Color color_of(std::size_t index, const Scene& scene) const {
    if (data_.curves[index].is_reference) return scene.theme.text_dim;
    int place = 0;
    for (std::size_t i = 0; i < index; ++i) place += !data_.curves[i].is_reference;
    return scene.theme.series(place);
  }

  float names_width(Canvas& canvas, const Scene& scene) const {
    float width = 0;
    for (const CurvePlot::Curve& curve : data_.curves)
      width = std::max(width, canvas.measure(curve.name, bold_text(scene, 0.82f)).x);
    return width + scene.em * 1.2f;
  }

  // Names stand where their curves end, pushed apart where they would touch.
  void draw_names(Canvas& canvas, Rect plot, const AxisScale& y, const Scene& scene) const {
    struct Name {
      std::size_t curve;
      float at;
    };
    const float line = scene.em * 1.15f;
    std::vector<Name> names;
    for (std::size_t i = 0; i < data_.curves.size(); ++i)
      if (!data_.curves[i].values.empty())
        names.push_back({i, y.px(data_.curves[i].values.back())});
    std::stable_sort(names.begin(), names.end(),
                     [](const Name& a, const Name& b) { return a.at < b.at; });
    for (std::size_t i = 1; i < names.size(); ++i)
      names[i].at = std::max(names[i].at, names[i - 1].at + line);
    for (std::size_t i = names.size(); i-- > 0;)
      names[i].at = std::min(
          names[i].at, i + 1 < names.size() ? names[i + 1].at - line : plot.bottom() - line * 0.4f);
    for (const Name& name : names) {
      TextStyle style = bold_text(scene, 0.82f);
      style.color = scene.theme.legible(color_of(name.curve, scene));
      text_in(
          canvas,
          {plot.right() + scene.em * 0.6f, name.at - line / 2, names_width(canvas, scene), line},
          data_.curves[name.curve].name, style);
    }
  }
};

}  // namespace

std::unique_ptr<Panel> make_curve_plot(CurvePlot plot) {
  return std::make_unique<CurvePanel>(std::move(plot));
}

}  // namespace triescope::viz
