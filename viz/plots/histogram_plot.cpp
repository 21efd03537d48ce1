// Small histograms beside each other, on the same axes.
#include <algorithm>
#include <numeric>
#include <sstream>

#include "viz/layouts/axis.h"
#include "viz/plots/plot_panel.h"
#include "viz/plots/plots.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr std::size_t kHistogramColumns = 4;
constexpr float kHistogramWidthEm = 16, kHistogramHeightEm = 10.2f, kHistogramApartEm = 1.6f,
                kHistogramUnitEm = 1.4f;
constexpr std::size_t kHistogramMostBars = 15;  // the last one counts all from there on

class HistogramPanel final : public PlotPanel<HistogramPlot> {
 public:
  using PlotPanel::PlotPanel;

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    if (data_.parts.empty()) return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em;
    const Rect room = below_title(canvas, area, scene);
    const Point pitch{
        (room.w + em * kHistogramApartEm) / static_cast<float>(columns()),
        (room.h - em * kHistogramUnitEm + em * kHistogramApartEm) / static_cast<float>(rows())};
    for (std::size_t i = 0; i < data_.parts.size(); ++i)
      draw_part(canvas,
                {room.x + pitch.x * static_cast<float>(i % columns()),
                 room.y + pitch.y * static_cast<float>(i / columns()),
                 pitch.x - em * kHistogramApartEm, pitch.y - em * kHistogramApartEm},
                data_.parts[i], scene);
    text_in(canvas, {room.x, area.bottom() - em * kHistogramUnitEm, room.w, em * kHistogramUnitEm},
            data_.unit + "; above each bar its share in %", dim_text(scene, 0.8f), Align::kCenter);
  }

  Point extent(Canvas&, const Scene& scene) const override {
    const auto across = static_cast<float>(columns()), down = static_cast<float>(rows());
    return {scene.em * ((kHistogramWidthEm + kHistogramApartEm) * across - kHistogramApartEm),
            scene.em * (kPlotTitleEm + (kHistogramHeightEm + kHistogramApartEm) * down -
                        kHistogramApartEm + kHistogramUnitEm)};
  }

  std::string csv(const Scene&) const override {
    std::ostringstream out;
    out << "row,value,count\n";
    for (const HistogramPlot::Part& part : data_.parts)
      for (std::size_t k = 0; k < part.counts.size(); ++k)
        out << csv_field(part.name) << ',' << k << ',' << part.counts[k] << '\n';
    return out.str();
  }

 private:
  std::size_t columns() const {
    return std::clamp<std::size_t>(data_.parts.size(), 1, kHistogramColumns);
  }
  std::size_t rows() const { return (data_.parts.size() + columns() - 1) / columns(); }

  std::size_t bars() const {
    std::size_t most = 1;
    for (const HistogramPlot::Part& part : data_.parts) most = std::max(most, part.counts.size());
    return std::min(most, kHistogramMostBars);
  }

  std::vector<double> shares_of(const HistogramPlot::Part& part) const {
    std::vector<double> shares(bars(), 0);
    double all = 0;
    for (std::size_t k = 0; k < part.counts.size(); ++k) {
      shares[std::min(k, shares.size() - 1)] += static_cast<double>(part.counts[k]);
      all += static_cast<double>(part.counts[k]);
    }
    if (all > 0)
      for (double& share : shares) share /= all;
    return shares;
  }

  double largest_share() const {
    double most = 0;
    for (const HistogramPlot::Part& part : data_.parts)
      for (const double share : shares_of(part)) most = std::max(most, share);
    return most > 0 ? most : 1;
  }

  void draw_part(Canvas& canvas, Rect area, const HistogramPlot::Part& part,
                 const Scene& scene) const {
    const float em = scene.em;
    const TextStyle small = dim_text(scene, 0.72f);
    const std::int64_t n = std::accumulate(part.counts.begin(), part.counts.end(), std::int64_t{0});
    double sum = 0;
    for (std::size_t k = 0; k < part.counts.size(); ++k)
      sum += static_cast<double>(k) * static_cast<double>(part.counts[k]);
    const std::string mean =
        n ? "mean " + plot_number(sum / static_cast<double>(n)) + ", n = " + std::to_string(n) : "";
    text_in(canvas, {area.x, area.y, area.w, em * 1.3f}, part.name, bold_text(scene, 0.86f));
    text_in(canvas, {area.x, area.y + em * 1.2f, area.w, em * 1.1f}, mean, small);
    const Rect plot{area.x, area.y + em * 3.5f, area.w, area.h - em * 4.8f};
    const std::vector<double> shares = shares_of(part);
    const AxisScale y{0, largest_share(), plot.bottom(), plot.y};
    const float pitch = plot.w / static_cast<float>(shares.size());
    for (std::size_t k = 0; k < shares.size(); ++k) {
      const float left = plot.x + pitch * static_cast<float>(k);
      if (shares[k] > 0) {
        const float top = y.px(shares[k]);
        canvas.fill_rect({left + pitch * 0.12f, top, pitch * 0.76f, plot.bottom() - top},
                         scene.theme.series(0).with_alpha(0.75f));
        const double percent = 100 * shares[k];
        if (percent >= 0.5)
          text_in(canvas, {left - em, top - em * 1.0f, pitch + em * 2, em}, number_text(percent, 0),
                  small, Align::kCenter);
      }
      const bool is_rest = k + 1 == kHistogramMostBars;
      if (shares.size() <= 10 || k % 2 == 0)
        text_in(canvas, {left - em, plot.bottom() + em * 0.15f, pitch + em * 2, em},
                std::to_string(k) + (is_rest ? "+" : ""), small, Align::kCenter);
    }
    canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, scene.theme.border);
  }
};

}  // namespace

std::unique_ptr<Panel> make_histogram_plot(HistogramPlot plot) {
  return std::make_unique<HistogramPanel>(std::move(plot));
}

}  // namespace triescope::viz
