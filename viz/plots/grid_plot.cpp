// A figure over two settings, as grids of cells.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/plots/plot_panel.h"
#include "viz/plots/plots.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kCellWidthEm = 4.2f, kCellHeightEm = 2.2f, kGridApartEm = 3.0f, kGridHeadEm = 1.7f,
                kGridBelowEm = 2.9f;

Color mixed(Color from, Color to, double share) {
  const auto part = [&](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * share));
  };
  return {part(from.r, to.r), part(from.g, to.g), part(from.b, to.b), 255};
}

struct Span {
  double low = 0, high = 0;
};

Span span_of(const GridPlot::Figure& figure) {
  Span span{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const auto& row : figure.values)
    for (const double value : row)
      if (std::isfinite(value))
        span.low = std::min(span.low, value), span.high = std::max(span.high, value);
  return span;
}

class GridPanel final : public PlotPanel<GridPlot> {
 public:
  using PlotPanel::PlotPanel;

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    if (data_.figures.empty() || data_.xs.empty())
      return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em;
    const Rect room = below_title(canvas, area, scene);
    const auto count = static_cast<float>(data_.figures.size());
    const float pitch = (room.w + em * kGridApartEm) / count;
    for (std::size_t f = 0; f < data_.figures.size(); ++f)
      draw_figure(
          canvas,
          {room.x + pitch * static_cast<float>(f), room.y, pitch - em * kGridApartEm, room.h},
          data_.figures[f], scene);
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    const auto count = static_cast<float>(data_.figures.size());
    const float cells = kCellWidthEm * static_cast<float>(data_.xs.size());
    const float left = left_width(canvas, scene);
    float one = left + scene.em * cells;
    for (const GridPlot::Figure& figure : data_.figures)
      one = std::max(one, canvas.measure(figure.name, bold_text(scene, 0.9f)).x + left);
    const float title = canvas.measure(data_.title, bold_text(scene)).x;
    return {std::max(title, (one + scene.em * kGridApartEm) * count - scene.em * kGridApartEm),
            scene.em * (kPlotTitleEm + kGridHeadEm + kGridBelowEm +
                        kCellHeightEm * static_cast<float>(rows()))};
  }

  std::string csv(const Scene&) const override {
    std::ostringstream out;
    out << csv_field(data_.x_name) << ',' << csv_field(data_.y_name.empty() ? "row" : data_.y_name);
    for (const GridPlot::Figure& figure : data_.figures) out << ',' << csv_field(figure.name);
    out << '\n';
    for (std::size_t y = 0; y < rows(); ++y)
      for (std::size_t x = 0; x < data_.xs.size(); ++x) {
        out << csv_field(data_.xs[x]) << ',' << csv_field(data_.ys.empty() ? "" : data_.ys[y]);
        for (const GridPlot::Figure& figure : data_.figures)
          out << ',' << csv_double(figure.values[y][x]);
        out << '\n';
      }
    return out.str();
  }

 private:
  std::size_t rows() const { return std::max<std::size_t>(1, data_.ys.size()); }
  // The width of the column with the second setting's values.
  float left_width(Canvas& canvas, const Scene& scene) const {
    if (data_.y_name.empty()) return 0;
    float width = canvas.measure(data_.y_name, ui_text(scene, 0.86f)).x;
    for (const std::string& value : data_.ys)
      width = std::max(width, canvas.measure(value, dim_text(scene, 0.8f)).x);
    return width + scene.em * 0.6f;
  }

  void draw_figure(Canvas& canvas, Rect area, const GridPlot::Figure& figure,
                   const Scene& scene) const {
    const float em = scene.em;
    const TextStyle small = dim_text(scene, 0.8f);
    const float left = left_width(canvas, scene);
    const Rect grid{area.x + left, area.y + em * kGridHeadEm, area.w - left,
                    area.h - em * (kGridHeadEm + kGridBelowEm)};
    const float width =
        std::min(grid.w / static_cast<float>(data_.xs.size()), em * kCellWidthEm * 1.5f);
    const float height = grid.h / static_cast<float>(rows());
    text_in(canvas, {grid.x, area.y, grid.w, em * 1.3f}, figure.name, bold_text(scene, 0.9f));
    const Span span = span_of(figure);
    for (std::size_t y = 0; y < rows(); ++y)
      for (std::size_t x = 0; x < data_.xs.size(); ++x)
        draw_cell(canvas,
                  Rect{grid.x + width * static_cast<float>(x),
                       grid.y + height * static_cast<float>(y), width, height}
                      .inset(1),
                  figure.values[y][x], span, scene);
    const float below = grid.y + height * static_cast<float>(rows());
    for (std::size_t x = 0; x < data_.xs.size(); ++x)
      text_in(canvas, {grid.x + width * static_cast<float>(x), below + em * 0.1f, width, em * 1.2f},
              data_.xs[x], small, Align::kCenter);
    text_in(canvas,
            {grid.x, below + em * 1.3f, width * static_cast<float>(data_.xs.size()), em * 1.3f},
            data_.x_name, ui_text(scene, 0.86f), Align::kCenter);
    if (data_.y_name.empty()) return;
    for (std::size_t y = 0; y < data_.ys.size(); ++y)
      text_in(canvas, {area.x, grid.y + height * static_cast<float>(y), left - em * 0.6f, height},
              data_.ys[y], small, Align::kRight);
    // In the line below the grid, where its column ends.
    text_in(canvas, {area.x, below + em * 0.1f, left - em * 0.6f, em * 1.2f}, data_.y_name,
            ui_text(scene, 0.86f), Align::kRight);
  }

  static void draw_cell(Canvas& canvas, Rect cell, double value, Span span, const Scene& scene) {
    if (!std::isfinite(value))
      return text_in(canvas, cell, "–", dim_text(scene, 0.86f), Align::kCenter);
    const double share = span.high > span.low ? (value - span.low) / (span.high - span.low) : 1;
    const bool is_best = value == span.high;
    const Color ground = mixed(scene.theme.background, scene.theme.accent, 0.05 + 0.55 * share);
    canvas.fill_rect(cell, ground, 2);
    text_in(canvas, cell, plot_number(value),
            is_best ? bold_text(scene, 0.9f) : ui_text(scene, 0.9f), Align::kCenter);
  }
};

}  // namespace

std::unique_ptr<Panel> make_grid_plot(GridPlot plot) {
  return std::make_unique<GridPanel>(std::move(plot));
}

}  // namespace triescope::viz
