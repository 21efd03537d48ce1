#include "viz/panels/bar_picture.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/draw/drawing.h"
#include "viz/layouts/axis.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

// A slide of 16:9 with the export's margins and caption.
constexpr Point kBarSlideEm{66.5f, 34};

double top_of_bar(const BarValue& value) {
  return value.mean + (std::isnan(value.half) ? 0 : value.half);
}

std::string short_value(double value) {
  return number_text(value, std::abs(value) < 10 ? 2 : std::abs(value) < 100 ? 1 : 0);
}

class BarPicture final : public Panel {
 public:
  explicit BarPicture(BarChart chart)
      : info_{"bars", chart.title, "", "", "No run is in this chart."}, chart_(std::move(chart)) {}

  const PanelInfo& info() const override { return info_; }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    if (chart_.groups.empty()) return draw_empty_state(canvas, area, info_.empty, scene);
    const float em = scene.em;
    text_in(canvas, {area.x, area.y, area.w, em * 1.4f}, chart_.title, bold_text(scene));
    float top = area.y + em * 1.8f;
    if (chart_.series.size() > 1) {
      std::vector<LegendEntry> entries;
      for (std::size_t i = 0; i < chart_.series.size(); ++i)
        entries.push_back({.label = chart_.series[i],
                           .color = scene.theme.series(static_cast<int>(i)),
                           .glyph = "■"});
      top += draw_legend(canvas, {area.x, top}, area.w, entries, scene) + em * 0.4f;
    }
    const Rect plot{area.x + em * 3.2f, top, std::max(1.0f, area.w - em * 3.6f),
                    std::max(1.0f, area.bottom() - top - em * 3)};
    double high = 0;
    for (const auto& group : chart_.values)
      for (const auto& value : group)
        if (value) high = std::max(high, top_of_bar(*value));
    const AxisScale y{0, high > 0 ? high * 1.12 : 1, plot.bottom(), plot.y};
    const TextStyle small = dim_text(scene, 0.8f);
    for (const double tick :
         nice_ticks(0, y.high, std::max(2, static_cast<int>(plot.h / (em * 2.4f))))) {
      canvas.line({plot.x, y.px(tick)}, {plot.right(), y.px(tick)}, scene.theme.grid, 1);
      text_in(canvas, {area.x, y.px(tick) - em * 0.6f, em * 2.9f, em * 1.2f}, round_text(tick),
              small, Align::kRight);
    }
    const float pitch = plot.w / static_cast<float>(chart_.groups.size());
    for (std::size_t g = 0; g < chart_.groups.size(); ++g)
      draw_group(canvas, g, {plot.x + pitch * static_cast<float>(g), plot.y, pitch, plot.h}, y,
                 scene);
    canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, scene.theme.border, 1);
  }

  Point extent(Canvas&, const Scene& scene) const override {
    return {scene.em * kBarSlideEm.x, scene.em * kBarSlideEm.y};
  }

  std::string csv(const Scene&) const override {
    std::ostringstream out;
    out << "group,series,n,mean,half\n";
    for (std::size_t g = 0; g < chart_.groups.size(); ++g)
      for (std::size_t s = 0; s < chart_.series.size(); ++s)
        if (const auto& value = chart_.values[g][s])
          out << csv_field(chart_.groups[g]) << ',' << csv_field(chart_.series[s]) << ','
              << value->n << ',' << csv_double(value->mean) << ',' << csv_double(value->half)
              << '\n';
    return out.str();
  }

 private:
  void draw_group(Canvas& canvas, std::size_t g, Rect room, const AxisScale& y,
                  const Scene& scene) const {
    const float em = scene.em;
    const auto count = static_cast<float>(chart_.series.size());
    const float width = std::min(em * 4, room.w * 0.8f / count);
    float x = room.x + (room.w - width * count) / 2;
    std::int64_t least = 0, most = 0;  // runs behind a bar
    for (std::size_t s = 0; s < chart_.series.size(); ++s, x += width) {
      const auto& value = chart_.values[g][s];
      if (!value) continue;
      least = most ? std::min(least, value->n) : value->n;
      most = std::max(most, value->n);
      const Color color = scene.theme.series(static_cast<int>(s));
      const float top = y.px(value->mean), middle = x + width / 2;
      canvas.fill_rect({x + width * 0.06f, top, width * 0.88f, room.bottom() - top},
                       color.with_alpha(0.75f));
      float above = top;
      if (!std::isnan(value->half)) {
        const float low = y.px(std::max(0.0, value->mean - value->half)),
                    high = y.px(value->mean + value->half), cap = std::min(em * 0.3f, width * 0.3f);
        canvas.line({middle, low}, {middle, high}, scene.theme.text, 1.5f);
        for (const float end : {low, high})
          canvas.line({middle - cap, end}, {middle + cap, end}, scene.theme.text, 1.5f);
        above = high;
      }
      const TextStyle style = ui_text(scene, 0.78f);
      const std::string label = short_value(value->mean);
      if (canvas.measure(label, style).x <= width * 1.1f)
        text_in(canvas, {x - width * 0.1f, above - em * 1.1f, width * 1.2f, em}, label, style,
                Align::kCenter);
    }
    const TextStyle name = ui_text(scene, 0.86f);
    text_in(canvas, {room.x, room.bottom() + em * 0.2f, room.w, em * 1.2f},
            fit_text(canvas, chart_.groups[g], name, room.w - em * 0.4f), name, Align::kCenter);
    const std::string n =
        "n = " + std::to_string(least) + (most > least ? " to " + std::to_string(most) : "");
    text_in(canvas, {room.x, room.bottom() + em * 1.4f, room.w, em * 1.1f}, n,
            dim_text(scene, 0.8f), Align::kCenter);
  }

  PanelInfo info_;
  BarChart chart_;
};

}  // namespace

std::unique_ptr<Panel> make_bar_picture(BarChart chart) {
  return std::make_unique<BarPicture>(std::move(chart));
}

}  // namespace triescope::viz
