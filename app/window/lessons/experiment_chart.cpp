#include "app/window/lessons/experiment_chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viz/draw/drawing.h"

namespace triescope::app {
namespace {

using viz::Rect;

constexpr float kLegendEm = 1.7f, kRowEm = 2.0f, kBarEm = 0.72f;

std::string share_text(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}

}  // namespace

float experiment_chart_height(const ExperimentChart& chart) {
  return chart.em * (kLegendEm + kRowEm * static_cast<float>(chart.names.size()));
}

void draw_experiment_chart(viz::Canvas& canvas, Rect area, const ExperimentChart& chart) {
  const float em = chart.em, small = em * 0.86f;
  const viz::TextStyle bold{viz::FontFace::kUiBold, em, chart.theme.text};
  const viz::TextStyle dim{viz::FontFace::kUi, small, chart.theme.text_dim};
  const auto draw_box = [&](const Rect& box, bool filled) {
    if (filled)
      canvas.fill_rect(box, chart.theme.accent, em * 0.1f);
    else
      canvas.stroke_rect(box, chart.theme.text_dim, std::max(1.0f, em * 0.09f),
                         viz::LineStyle::kSolid, em * 0.1f);
  };
  // Names and figures take the width they need; the bars take the rest.
  float names = em * 2;
  for (const std::string& name : chart.names) names = std::max(names, canvas.measure(name, bold).x);
  names = std::min(names, area.w * 0.35f) + em * 0.7f;
  const float figures = canvas.measure("100.0 %", dim).x + em * 0.6f;
  const Rect bars{area.x + names, area.y, std::max(em, area.w - names - figures), area.h};

  float x = bars.x;
  const auto legend = [&](const std::string& word, bool filled) {
    draw_box({x, area.y + em * 0.4f, em, em * 0.6f}, filled);
    viz::text_in(canvas, {x + em * 1.4f, area.y, area.right() - x - em * 1.4f, em * 1.4f}, word,
                 dim);
    x += em * 2.6f + canvas.measure(word, dim).x;
  };
  legend("expected", false);
  legend("drawn", true);

  double most = 0;
  for (std::size_t i = 0; i < chart.names.size(); ++i)
    most = std::max({most, chart.expected[i], chart.result ? chart.result->share(i) : 0.0});
  for (std::size_t i = 0; i < chart.names.size(); ++i) {
    const float y = area.y + em * (kLegendEm + kRowEm * static_cast<float>(i));
    viz::text_in(canvas, {area.x, y, names - em * 0.7f, em * 2 * kBarEm},
                 viz::fit_text(canvas, chart.names[i], bold, names - em * 0.7f), bold);
    const auto bar = [&](int row, double share, bool filled) {
      const float top = y + em * kBarEm * static_cast<float>(row);
      if (share > 0)  // else only the figure is drawn
        draw_box({bars.x, top, static_cast<float>(bars.w * share / std::max(most, 1e-9)),
                  em * (kBarEm - 0.12f)},
                 filled);
      viz::text_in(canvas, {bars.right(), top - em * 0.06f, figures, em * kBarEm},
                   share_text(share), {viz::FontFace::kUi, em * 0.74f, chart.theme.text_dim},
                   viz::Align::kRight);
    };
    bar(0, chart.expected[i], false);
    if (chart.result) bar(1, chart.result->share(i), true);
  }
}

}  // namespace triescope::app
