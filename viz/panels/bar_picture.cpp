#include "viz/panels/bar_picture.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/draw/drawing.h"
#include "viz/panels/bar_layouts.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kBarTitleEm = 2;

class BarPicture final : public Panel {
 public:
  explicit BarPicture(BarChart chart)
      : info_{chart.name, chart.title, "", "", "No run is in this chart."},
        chart_(std::move(chart)) {}

  const PanelInfo& info() const override { return info_; }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    if (chart_.groups.empty() || chart_.series.empty())
      return draw_empty_state(canvas, area, info_.empty, scene);
    const float title = scene.em * kBarTitleEm;
    text_in(canvas, {area.x, area.y, area.w, scene.em * 1.4f}, chart_.title, bold_text(scene));
    (chart_.lies ? draw_lying_bars : draw_upright_bars)(
        canvas, {area.x, area.y + title, area.w, std::max(1.0f, area.h - title)}, chart_, scene);
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    const Point room = (chart_.lies ? lying_extent : upright_extent)(canvas, chart_, scene);
    return {room.x, room.y + scene.em * kBarTitleEm};
  }

  std::string csv(const Scene&) const override {
    std::ostringstream out;
    out << "group,series,n,mean,low,high\n";
    for (std::size_t g = 0; g < chart_.groups.size(); ++g)
      for (std::size_t s = 0; s < chart_.series.size(); ++s)
        if (const auto& value = chart_.values[g][s])
          out << csv_field(chart_.groups[g]) << ',' << csv_field(chart_.series[s]) << ','
              << (value->n ? std::to_string(value->n) : "") << ',' << csv_double(value->mean) << ','
              << csv_double(value->low) << ',' << csv_double(value->high) << '\n';
    return out.str();
  }

 private:
  PanelInfo info_;
  BarChart chart_;
};

template <class See>
void each_bar(const BarChart& chart, const See& see) {
  for (const auto& group : chart.values)
    for (const auto& value : group)
      if (value) see(*value);
}

}  // namespace

double bars_reach(const BarChart& chart) {
  double most = std::isnan(chart.reference) ? 0 : chart.reference;
  each_bar(chart, [&](const BarValue& value) {
    for (const double one : {value.mean, value.high, value.ring})
      if (std::isfinite(one)) most = std::max(most, one);
  });
  return most > 0 ? most : 1;
}

double best_of_group(const BarChart& chart, std::size_t group) {
  double best = kNoBarFigure;
  if (!chart.marks_best) return best;
  for (const auto& value : chart.values[group])
    if (value && !(value->mean <= best)) best = value->mean;
  return best;
}

std::unique_ptr<Panel> make_bar_picture(BarChart chart) {
  return std::make_unique<BarPicture>(std::move(chart));
}

}  // namespace triescope::viz
