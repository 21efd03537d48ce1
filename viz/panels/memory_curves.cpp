#include "viz/panels/memory_curves.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "viz/draw/drawing.h"
#include "viz/query/kv_levels.h"
#include "viz/text/number_text.h"

namespace triescope::viz::memory_curves {

namespace {

// A round number of bytes: "2.5 MB", "200 KB".
std::string round_bytes_text(double bytes) {
  static constexpr std::array<const char*, 5> kUnits = {" B", " KB", " MB", " GB", " TB"};
  std::size_t unit = 0;
  for (; std::abs(bytes) >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  return round_text(bytes) + kUnits[unit];
}

}  // namespace

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

std::string end_text(const MemoryRow& row) {
  return row.garbage > 0 ? "KV left as garbage" : "KV released";
}

std::string moment_text(const MemoryRow& now, Figures figures) {
  return "end of step " + std::to_string(now.step) +
         (figures == Figures::kStepOutsideRange ? " (outside the range)"
          : figures == Figures::kEnd            ? ", " + end_text(now)
                                                : "");
}

Now now_at(const RowSource& source, const Scene& scene, Figures figures) {
  const auto all = source.memory(*scene.capture);
  const auto after = std::partition_point(all.begin(), all.end(), [&](const MemoryRow& row) {
    return capture::make_tick(row.step, capture::Phase::kCommit) < scene.cursor;
  });
  Now now;
  if (after != all.begin()) now.row = *std::prev(after);
  const std::int32_t shown = scene.shown_step();
  const bool ended = after != all.begin() && now.row.step == shown;
  // The slots say what is held within a step. Its row says what is held at its end, also without slots.
  if (!ended && !source.levels(*scene.capture).empty()) {
    const capture::KvLevel level = kv_level_at(*scene.capture, scene.cursor, source.whose);
    now.row.live = level.live;
    now.row.garbage = level.garbage;
  }
  now.moment = ended || shown < 0
                   ? moment_text(now.row, figures)
                   : "step " + std::to_string(shown) + ", after " +
                         capture::to_string(capture::phase_of(scene.cursor - 1)) +
                         (figures == Figures::kStepOutsideRange ? " (outside the range)" : "");
  return now;
}

std::vector<std::pair<std::int32_t, std::int32_t>> step_peaks(std::span<const MemoryRow> rows,
                                                              const RowSource& source,
                                                              const Scene& scene) {
  std::vector<std::pair<std::int32_t, std::int32_t>> peaks;
  const capture::Tick end =
      scene.export_mode && !scene.series ? scene.cursor : scene.capture->end_tick();
  for (const MemoryRow& row : rows)
    if (const auto peak = kv_peak_of_step(*scene.capture, row.step, end, source.whose))
      peaks.emplace_back(row.step, std::max(peak->held(), row.live + row.garbage));
    else if (!source.levels(*scene.capture).empty())
      peaks.emplace_back(row.step, row.live + row.garbage);
  return peaks;
}

AllCaches all_caches(std::span<const MemoryRow> rows, const RowSource& source, double per_token,
                     const Scene& scene) {
  AllCaches all;
  const auto owners = scene.capture->owners();
  if (owners.size() < 2 || per_token <= 0) return all;
  for (const MemoryRow& row : rows) all.steps.emplace_back(row.step, row.live + row.garbage);
  for (const capture::Whose whose : owners) {
    const RowSource other{whose};
    const double each = static_cast<double>(other.kv_bytes_per_token(*scene.capture)) / per_token;
    const capture::KvLevel level = kv_level_at(*scene.capture, scene.cursor, whose);
    all.now += each * (level.live + level.garbage);
    const auto theirs = other.memory(*scene.capture);
    if (other == source || theirs.empty()) continue;
    for (auto& [step, held] : all.steps) {
      const MemoryRow& row = at_step(theirs, step);
      if (row.step <= step) held += each * (row.live + row.garbage);
    }
  }
  return all;
}

Color all_caches_color(const Scene& scene) { return scene.theme.series(4); }

void draw_all_caches(Canvas& canvas, const AllCaches& all, std::span<const MemoryRow> rows,
                     const AxisScale& x, const AxisScale& y, const Scene& scene) {
  const Color color = all_caches_color(scene);
  std::vector<Point> line;
  for (std::size_t i = 0; i < all.steps.size() && i < rows.size(); ++i) {
    const Point at{x.px(rows[i].step), y.px(all.steps[i].second)};
    if (i > 0) {
      const MemoryRow &a = rows[i - 1], &b = rows[i];
      const Point area[] = {{line.back().x, y.px(a.live + a.garbage)},
                            line.back(),
                            at,
                            {at.x, y.px(b.live + b.garbage)}};
      canvas.fill_polygon(area, color.with_alpha(0.12f));
    }
    line.push_back(at);
  }
  if (line.size() > 1) canvas.polyline(line, color, 1.5f);
}

bool released(const MemoryRow& row, const RowSource& source, const capture::Capture& capture) {
  const auto all = source.memory(capture);
  return capture.status() != capture::RunStatus::kRunning && !all.empty() &&
         row.step == all.back().step &&
         row.live <= static_cast<std::int32_t>(capture.run().prompt_tokens.size());
}

std::span<const MemoryRow> before_release(std::span<const MemoryRow> rows, const RowSource& source,
                                          const capture::Capture& capture) {
  return rows.size() > 1 && released(rows.back(), source, capture) ? rows.first(rows.size() - 1)
                                                                   : rows;
}

std::string ratio_text(std::span<const MemoryRow> rows, const MemoryRow& now,
                       const std::array<bool, kCurves>& has, double per_token, Figures figures,
                       std::int32_t peak) {
  if (!has[4] || now.batch_beam <= 0) return "";
  double held = peak, batch = 1, share = 0;
  for (const MemoryRow& row : rows) {
    share += row.batch_beam > 0 ? static_cast<double>(row.live + row.garbage) / row.batch_beam : 1;
    held = std::max(held, static_cast<double>(row.live + row.garbage));
    batch = std::max(batch, static_cast<double>(row.batch_beam));
  }
  if (figures == Figures::kEnd)
    return (now.garbage > 0 ? "the run has ended, its KV is left as garbage: peak "
                            : "the run has ended and released its KV: peak ") +
           bytes_text(held * per_token) + ", " + number_text(held / batch, 2) +
           " × batch beam search's peak of " + bytes_text(batch * per_token);
  if (figures == Figures::kWholeRun)
    return "peak " + bytes_text(held * per_token) + ", " + number_text(held / batch, 2) +
           " × batch beam search's " + bytes_text(batch * per_token) + "; mean over the steps " +
           number_text(share / static_cast<double>(rows.size()), 2) + " ×";
  const double used = now.live + now.garbage;
  return bytes_text(used * per_token) + " held, " + number_text(used / now.batch_beam, 2) +
         " × batch beam search's " + bytes_text(now.batch_beam * per_token) +
         (rows.empty()
              ? ""
              : (figures == Figures::kStepOutsideRange ? "; peaks within the range " : "; peaks ") +
                    number_text(held / batch, 2) + " ×");
}

std::span<const MemoryRow> rows_of(const RowSource& source, const Scene& scene) {
  if (!scene.capture) return {};
  const std::span<const MemoryRow> rows = source.memory(*scene.capture);
  auto first = rows.begin(), end = rows.end();
  if (scene.range) {
    first = std::ranges::lower_bound(rows, scene.range->first, {}, &MemoryRow::step);
    end = std::ranges::upper_bound(rows, scene.range->second, {}, &MemoryRow::step);
  }
  if (first >= end) return {};
  const std::span<const MemoryRow> within(first, end);
  return scene.export_mode && !scene.series ? rows_seen(within, scene) : within;
}

std::span<const MemoryRow> rows_seen(std::span<const MemoryRow> rows, const Scene& scene) {
  const auto end = std::ranges::partition_point(rows, [&](const MemoryRow& row) {
    return capture::make_tick(row.step, capture::Phase::kCommit) < scene.cursor;
  });
  return {rows.begin(), end};
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
  }
  if (wide)
    for (const double bytes :
         nice_ticks(0, y.high * per_token, std::max(2, static_cast<int>(plot.h / (em * 2.6f)))))
      text_in(canvas,
              {plot.right() + em * 0.4f, y.px(bytes / per_token) - em * 0.6f, em * 4.3f, em * 1.2f},
              round_bytes_text(bytes), small);
  for (const double tick : nice_integer_ticks(std::ceil(x.low), x.high,
                                              std::max(1, static_cast<int>(plot.w / (em * 5))))) {
    const float px = x.px(tick);
    canvas.line({px, plot.bottom()}, {px, plot.bottom() + em * 0.2f}, scene.theme.border, 1);
    draw_x_label(canvas, px, plot.bottom() + em * 0.25f, em * 1.1f, area.x, area.right(),
                 std::to_string(std::llround(tick)), small);
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

void draw_peaks(Canvas& canvas, std::span<const std::pair<std::int32_t, std::int32_t>> peaks,
                const AxisScale& x, const AxisScale& y, const Scene& scene) {
  std::vector<Point> points;
  for (const auto& [step, held] : peaks) {
    const Point p{x.px(step), y.px(held)};
    if (!points.empty() && p.x - points.back().x < 1)
      points.back().y = std::min(points.back().y, p.y);
    else
      points.push_back(p);
  }
  if (points.size() > 1)
    canvas.polyline(points, color_of(0, scene).with_alpha(0.75f), scene.em / 14, LineStyle::kSolid);
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
