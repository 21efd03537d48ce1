#include "viz/panels/memory_curves.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "viz/look/drawing.h"
#include "viz/words/number_text.h"

namespace triescope::viz::memory_curves {

Color color_of(std::size_t curve, const Scene& s) {
  switch (curve) {
    case 0:
      return s.theme.series(0);
    case 1:
      return s.theme.mark(capture::NodeState::kPruned).color;
    case 2:
      return s.theme.text_dim;
    case 3:
      return s.theme.series(2);
    case 4:
      return s.theme.series(1);
    default:
      return s.theme.series(3);
  }
}

LineStyle line_of(std::size_t curve) {
  return curve == 1 || curve == 3 ? LineStyle::kDashed
         : curve == 2             ? LineStyle::kDotted
                                  : LineStyle::kSolid;
}

std::string meaning(std::size_t curve) {
  static constexpr std::array<const char*, kCurves> kMeanings = {
      "live: KV that some live path still needs",
      "garbage: KV of dead nodes that still occupies a slot",
      "reserved: slots allocated, used or not",
      "greedy = prompt + generated: what greedy decoding would hold at this length",
      "batch beam = beams × (prompt + generated): what conventional batch beam search would hold",
      "what libtorch's CUDA allocator has in use, weights included, as KV tokens"};
  return kMeanings[curve];
}

double value_of(const MemoryRow& row, std::size_t curve, double per_token) {
  switch (curve) {
    case 0:
      return row.live;
    case 1:
      return row.garbage;
    case 2:
      return row.reserved;
    case 3:
      return row.greedy;
    case 4:
      return row.batch_beam;
    default:
      return per_token > 0 ? static_cast<double>(row.device_allocated_bytes) / per_token : 0;
  }
}

double curve_value(const MemoryRow& row, std::size_t curve, double per_token, bool stacked) {
  return curve == 1 && stacked ? row.live + row.garbage : value_of(row, curve, per_token);
}

std::array<bool, kCurves> curves_of(std::span<const MemoryRow> rows) {
  std::array<bool, kCurves> has = {true, false, true, true, false, false};
  for (const MemoryRow& row : rows) {
    has[1] |= row.garbage > 0;
    has[4] |= row.batch_beam > row.greedy;  // one beam is greedy decoding
    has[5] |= row.device_allocated_bytes >= 0;
  }
  return has;
}

std::string moment_text(const MemoryRow& now, Figures figures) {
  return "end of step " + std::to_string(now.step) +
         (figures == Figures::kStepOutsideRange ? " (outside the range)" : "");
}

bool released(const MemoryRow& row, const RowSource& source, const capture::Capture& capture) {
  const auto all = source.memory(capture);
  return capture.status() != capture::RunStatus::kRunning && !all.empty() &&
         row.step == all.back().step &&
         row.live <= static_cast<std::int32_t>(capture.run().prompt_tokens.size());
}

std::string ratio_text(std::span<const MemoryRow> rows, const MemoryRow& now,
                       const std::array<bool, kCurves>& has, double per_token, Figures figures) {
  if (!has[4] || now.batch_beam <= 0) return "";
  double held = 0, batch = 1, share = 0;
  for (const MemoryRow& row : rows) {
    share += row.batch_beam > 0 ? static_cast<double>(row.live + row.garbage) / row.batch_beam : 1;
    held = std::max(held, static_cast<double>(row.live + row.garbage));
    batch = std::max(batch, static_cast<double>(row.batch_beam));
  }
  if (figures == Figures::kEnd)
    return "the run has ended and released its KV: peak " + bytes_text(held * per_token) + ", " +
           number_text(held / batch, 2) + " × batch beam search's peak of " +
           bytes_text(batch * per_token);
  if (figures == Figures::kWholeRun)
    return "peak " + bytes_text(held * per_token) + ", " + number_text(held / batch, 2) +
           " × batch beam search's " + bytes_text(batch * per_token) + "; mean over the steps " +
           number_text(share / static_cast<double>(rows.size()), 2) + " ×";
  const double used = now.live + now.garbage;
  return bytes_text(used * per_token) + " held, " + number_text(used / now.batch_beam, 2) +
         " × batch beam search's " + bytes_text(now.batch_beam * per_token) +
         (figures == Figures::kStepOutsideRange ? "; peaks within the range " : "; peaks ") +
         number_text(held / batch, 2) + " ×";
}

std::span<const MemoryRow> rows_of(const RowSource& source, const Scene& scene) {
  if (!scene.capture) return {};
  const std::span<const MemoryRow> rows = source.memory(*scene.capture);
  auto first = rows.begin(), end = rows.end();
  if (scene.range) {
    first = std::ranges::lower_bound(rows, scene.range->first, {}, &MemoryRow::step);
    end = std::ranges::upper_bound(rows, scene.range->second, {}, &MemoryRow::step);
  }
  if (scene.export_mode && !scene.series)
    end = std::partition_point(first, end, [&](const MemoryRow& row) {
      return capture::make_tick(row.step, capture::Phase::kCommit) < scene.cursor;
    });
  return {first, end};
}

const MemoryRow& at_step(std::span<const MemoryRow> rows, std::int32_t step) {
  const auto after =
      std::upper_bound(rows.begin(), rows.end(), step,
                       [](std::int32_t s, const MemoryRow& row) { return s < row.step; });
  return after == rows.begin() ? rows.front() : *std::prev(after);
}

void draw_axes(Canvas& canvas, Rect area, Rect plot, const AxisScale& x, const AxisScale& y,
               bool wide, bool units, double per_token, const Scene& scene) {
  const float em = scene.em;
  const TextStyle small = dim_text(scene, 0.76f);
  for (const double tick :
       nice_integer_ticks(0, y.high, std::max(2, static_cast<int>(plot.h / (em * 2.6f))))) {
    const float py = y.px(tick);
    canvas.line({plot.x, py}, {plot.right(), py}, scene.theme.grid, 1);
    text_in(canvas, {area.x + em * 0.2f, py - em * 0.6f, em * 2.9f, em * 1.2f},
            std::to_string(std::llround(tick)), small, Align::kRight);
    if (wide)
      text_in(canvas, {plot.right() + em * 0.4f, py - em * 0.6f, em * 4.3f, em * 1.2f},
              bytes_text(std::abs(tick) * per_token), small);
  }
  for (const double tick : nice_integer_ticks(std::ceil(x.low), x.high,
                                              std::max(1, static_cast<int>(plot.w / (em * 5))))) {
    const float px = x.px(tick);
    canvas.line({px, plot.bottom()}, {px, plot.bottom() + em * 0.2f}, scene.theme.border, 1);
    text_in(canvas,
            {std::min(px - em * 1.5f, area.right() - em * 3), plot.bottom() + em * 0.25f, em * 3,
             em * 1.1f},
            std::to_string(std::llround(tick)), small, Align::kCenter);
  }
  if (units) {
    const float line = plot.bottom() + em * 1.4f;
    text_in(canvas, {area.x + em * 0.4f, line, em * 5, em * 1.1f}, "KV tokens", small);
    text_in(canvas, {plot.x + em * 3, line, std::max(1.0f, plot.w - em * 6), em * 1.1f}, "step",
            small, Align::kCenter);
    if (wide)
      text_in(canvas, {plot.right() + em * 0.4f, line, em * 4.3f, em * 1.1f}, "bytes", small);
  }
  canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, scene.theme.border, 1);
  canvas.line({plot.x, plot.y}, {plot.x, plot.bottom()}, scene.theme.border, 1);
}

void draw_curve(Canvas& canvas, std::span<const MemoryRow> rows, const AxisScale& x,
                const AxisScale& y, std::size_t curve, double per_token, const Scene& scene,
                bool stacked) {
  std::vector<Point> points;
  const bool stairs = curve == 2;
  float column = -1e9f, low = 0, high = 0;
  const auto flush = [&] {
    if (column < -1e8f) return;
    points.push_back({column, low});
    if (high != low) points.push_back({column, high});
  };
  for (const MemoryRow& row : rows) {
    const Point p{x.px(row.step), y.px(curve_value(row, curve, per_token, stacked))};
    if (p.x - column >= 1) {
      flush();
      if (stairs && !points.empty()) points.push_back({p.x, points.back().y});
      column = p.x;
      low = high = p.y;
    } else {
      low = std::max(low, p.y);
      high = std::min(high, p.y);
    }
  }
  flush();
  if (points.size() == 1) points.push_back({points[0].x + 2, points[0].y});
  const float em = scene.em / 14;
  canvas.polyline(points, color_of(curve, scene),
                  em * (curve == 0   ? 2.4f
                        : curve == 4 ? 1.9f
                                     : 1.5f),
                  line_of(curve));
}

void draw_areas(Canvas& canvas, std::span<const MemoryRow> rows, const AxisScale& x,
                const AxisScale& y, const Scene& scene) {
  const auto tint = [&](Color color) {
    const auto part = [](std::uint8_t from, std::uint8_t to) {
      return static_cast<std::uint8_t>(from + (to - from) * 35 / 100);
    };
    const Color back = scene.theme.background;
    return Color{part(back.r, color.r), part(back.g, color.g), part(back.b, color.b), 255};
  };
  const Color live_color = tint(color_of(0, scene)), garbage_color = tint(color_of(1, scene));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const MemoryRow &a = rows[i - 1], &b = rows[i];
    const float ax = x.px(a.step), bx = x.px(b.step) + 0.8f;
    if (a.garbage > 0 || b.garbage > 0) {
      const Point garbage[] = {{ax, y.from},
                               {ax, y.px(a.live + a.garbage)},
                               {bx, y.px(b.live + b.garbage)},
                               {bx, y.from}};
      canvas.fill_polygon(garbage, garbage_color);
    }
    const Point live[] = {{ax, y.from}, {ax, y.px(a.live)}, {bx, y.px(b.live)}, {bx, y.from}};
    canvas.fill_polygon(live, live_color);
  }
}

}  // namespace triescope::viz::memory_curves
