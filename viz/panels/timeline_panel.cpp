// Timeline: steps and their phases with durations. Click or drag to move the cursor, Shift-drag to
// select a range of steps.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/range_band.h"
#include "viz/layouts/axis.h"
#include "viz/layouts/zoom.h"
#include "viz/panels/metric_curves.h"
#include "viz/panels/panels.h"
#include "viz/panels/timeline_marks.h"
#include "viz/panels/zoom_input.h"
#include "viz/query/step_so_far.h"
#include "viz/text/number_text.h"
#include "viz/text/timed_text.h"

namespace triescope::viz {
namespace {

constexpr float kMaxStepEm = 9;
constexpr float kMetricsApartEm = 6;         // the least height of curves and bars
constexpr float kMetricsShare = 0.45f;       // of that height, for the curves
constexpr float kLeastBelowLegendEm = 2.9f;  // the least height of bars and axis
constexpr double kMaxTimeZoom = 1000;
constexpr double kCutFactor = 1.6;
constexpr float kHeadroomEm = 0.45f;  // above the greatest value
constexpr ZoomSpeed kZoomSpeed = {1.2, 1.3, 1 / 1.3};

bool has_metrics(const capture::Capture* capture, capture::Tick cursor) {
  return capture && !capture->metrics().empty() && capture->metrics().front().tick < cursor;
}

class TimelinePanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "timeline",
        "Timeline",
        "Every step, its height the time it took, divided into its phases. Click or drag to scrub, "
        "Shift-drag to select a range, wheel to zoom. The recorder's own figures are curves, each on a "
        "scale of its own. Its CSV holds phases and figures up to the cursor, within the range if there "
        "is one.",
        "Hold Shift and drag over a few steps: memory, drafts and decisions then count those alone.",
        "No steps yet.",
        /*rows=*/{"phase", "step"},
        /*zooms=*/true};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    plot_ = {};
    if (!scene.capture || scene.capture->phases().empty())
      return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em, pad = em * 0.6f;
    const bool tall = area.h > em * 6.5f;
    float top = area.y + em * 0.2f;
    const char* const timed = scene.capture->run().timed_while_drawing ? kTimedWhileDrawing : "";
    const TextStyle small = dim_text(scene, 0.74f);
    const float timed_width = *timed ? canvas.measure(timed, small).x + em : 0;
    const std::vector<double> totals = totals_of(*scene.capture);
    double high = scale_top(totals);
    if (scene.beside.capture) high = std::max(high, scale_top(totals_of(*scene.beside.capture)));
    has_times_ = high > 0;
    if (!has_times_) high = 1;
    std::vector<LegendEntry> entries;
    for (int i = 0; has_times_ && i < capture::kPhaseCount; ++i) {
      const auto phase = static_cast<capture::Phase>(i);
      const char* const name = capture::to_string(phase);
      entries.push_back({name, color_of(scene, phase), "■", LineStyle::kSolid, false, name});
    }
    const std::vector<MetricCurve>& metrics = metrics_.of(*scene.capture);
    const std::vector<MetricCurve>& seen = seen_metrics_.of(*scene.capture, scene.cursor);
    std::ranges::move(metric_legend(metrics, seen, scene), std::back_inserter(entries));
    // The legend's rows leave the bars and their axis enough. Names that need more are cut to their beginnings,
    // because a phase that is left out of the legend cannot be told.
    const float legend_width = area.w - 2 * pad - timed_width;
    const auto rows = static_cast<int>((area.h - em * kLeastBelowLegendEm) / (em * 1.35f));
    if (legend_height(canvas, legend_width, entries, scene) > em * 1.36f * static_cast<float>(rows))
      for (std::size_t i = 0; has_times_ && i < capture::kPhaseCount; ++i)
        entries[i].label.resize(3);
    // A run whose legend stands beside it keeps the room, so that both runs' bars have one height.
    if (rows > 0 && scene.legend == LegendRoom::kNone)
      top += std::min(legend_height(canvas, legend_width, entries, scene),
                      em * 1.35f * static_cast<float>(rows)) +
             em * 0.1f;
    else if (rows > 0)
      top += draw_legend(canvas, {area.x + pad, top}, legend_width, entries, scene, nullptr, rows) +
             em * 0.1f;
    if (tall && *timed) top = std::max(top, area.y + em * 1.65f);
    Rect plot{area.x + em * 3.8f, top, std::max(em, area.w - em * 3.8f - pad),
              std::max(em * 0.6f, area.bottom() - top - em * 1.5f)};
    // The curves stand above the bars if there is room for both, else over them.
    const Rect whole = plot;
    const bool apart = !metrics.empty() && plot.h > em * kMetricsApartEm;
    if (apart) {
      const float taken = plot.h * kMetricsShare;
      plot.y += taken;
      plot.h -= taken;
    }
    const Rect curves{whole.x, whole.y + em * 0.2f, whole.w,
                      apart ? plot.y - whole.y - em * 0.8f : whole.h - em * 0.2f};
    const double steps = steps_of(scene);
    // Zoom is about the pointer until the cursor leaves the part shown, then about the cursor. A
    // few steps do not fill the whole width.
    const double visible = std::max(1.0, std::min(steps / zoom_, steps));
    const double span = std::max(visible, static_cast<double>(plot.w) / (em * kMaxStepEm));
    const double centre = static_cast<double>(scene.cursor) / capture::kPhaseCount;
    if (scene.cursor != cursor_ && (centre < first_ || centre > first_ + visible)) first_ = -1;
    cursor_ = scene.cursor;
    const double wanted = first_ >= 0 ? first_ : centre - visible / 2;
    const double first =
        zoom_ > 1 && !scene.export_mode ? low_within(wanted, visible, 0, steps) : 0;
    const AxisScale x{first, first + span, plot.x, plot.right()};
    plot_ = {whole, x};

    // Prefill and hiccups would flatten everything, so the scale follows the other steps. A taller bar is cut
    // and says how long it really was.
    const auto phases = scene.capture->phases();
    // The greatest value stands a little below the top, so that its label, beside it, has room there too; a bar
    // that is cut reaches the top.
    const AxisScale y{0, high, plot.bottom(), plot.y + std::min(em * kHeadroomEm, plot.h * 0.15f)};
    const double top_value = y.value(plot.y);
    if (has_times_)
      text_in(canvas, {area.x, y.px(high) - em * 0.5f, em * 3.5f, em}, duration_text(high), small,
              Align::kRight);
    else
      text_in(canvas, {plot.x, plot.y + std::max(0.0f, plot.h - em * 1.2f) / 2, plot.w, em * 1.2f},
              "No times were recorded.", small, Align::kCenter);
    if (has_times_ && plot.h >= em * 1.2f)
      text_in(canvas, {area.x, plot.bottom() - em * 0.5f, em * 3.5f, em}, "0", small,
              Align::kRight);
    if (scene.range) {
      const float a = x.px(scene.range->first), b = x.px(scene.range->second + 1);
      draw_range_band(canvas, {a, plot.y, b - a, plot.h}, scene);
    }
    canvas.push_clip({plot.x - em, plot.y - 2, plot.w + em + pad, plot.h + em * 1.6f});
    std::vector<Rect> labels;  // along the top
    // How far below the top a mark of this size must stand to cover no label.
    const auto clear_of_labels = [&](float px, float size) {
      for (const Rect& label : labels)
        if (px + size / 2 > label.x && px - size / 2 < label.right()) return label.h;
      return 0.0f;
    };
    const float step_px = x.px(first + 1) - x.px(first);
    const auto begin = static_cast<std::int32_t>(std::floor(first)),
               end = static_cast<std::int32_t>(
                   std::min(static_cast<double>(totals.size()), std::ceil(first + span)));
    if (step_px >= 3) {
      auto row = std::lower_bound(
          phases.begin(), phases.end(), capture::make_tick(begin, capture::Phase::kDraft),
          [](const capture::PhaseRow& r, capture::Tick tick) { return r.tick < tick; });
      double stacked = 0;
      std::int32_t current = -1;
      bool cut = false, is_whole = false;  // whole: the cursor has seen all of the step
      std::vector<std::int32_t> cut_steps;
      const auto mark_cut = [&] {
        // A bar that is taller than the scale has a gap and, once it is past, a label with its length.
        if (!cut) return;
        cut = false;
        const float left = x.px(current);
        canvas.fill_rect({left, plot.y + std::min(em * 1.5f, plot.h * 0.4f), step_px, em * 0.2f},
                         scene.theme.background);
        if (is_whole) cut_steps.push_back(current);
      };
      for (; row != phases.end() && capture::step_of(row->tick) < end; ++row) {
        const std::int32_t step = capture::step_of(row->tick);
        if (step != current) {
          mark_cut();
          stacked = 0;
        }
        current = step;
        const double lower = std::min(stacked, top_value);
        stacked += static_cast<double>(row->duration_us);
        const double upper = std::min(stacked, top_value);
        const bool past = is_whole = row->tick < scene.cursor;
        const float gap = step_px > 6 ? 1 : 0;
        canvas.fill_rect(
            {x.px(step) + gap, y.px(upper), step_px - 2 * gap,
             std::max(0.0f, y.px(lower) - y.px(upper))},
            color_of(scene, capture::phase_of(row->tick)).with_alpha(past ? 0.95f : 0.35f), 0);
        if (stacked > top_value && step_px > em * 0.8f) cut = true;
      }
      mark_cut();
      float free_from = -1e9f;
      for (const std::int32_t step : cut_steps) {
        const std::string label = duration_text(totals[static_cast<std::size_t>(step)]);
        const TextStyle style = ui_text(scene, 0.74f);
        const float width = canvas.measure(label, style).x + em * 0.4f;
        const float at = std::clamp(x.px(step), plot.x, std::max(plot.x, plot.right() - width));
        if (plot.h < em * 3 || at < free_from) continue;
        free_from = at + width;
        canvas.fill_rect({at, plot.y, width, em * 1.15f}, scene.theme.background.with_alpha(0.85f),
                         em * 0.2f);
        text_in(canvas, {at + em * 0.2f, plot.y, width, em * 1.15f}, label, style);
        labels.push_back({at, plot.y, width, em * 1.15f});
      }
    } else {
      // Steps that share a px have one bar, as high as the longest.
      float column = -1e9f;
      double longest = 0;
      bool past = true;
      const auto flush = [&] {
        if (column > 0)
          canvas.fill_rect({column, y.px(std::min(longest, high)), 1.5f,
                            plot.bottom() - y.px(std::min(longest, high))},
                           scene.theme.accent.with_alpha(past ? 0.85f : 0.35f), 0);
      };
      for (std::int32_t step = begin; step < end; ++step) {
        const float px = std::floor(x.px(step));
        if (px > column) {
          flush();
          column = px;
          longest = 0;
          past = capture::make_tick(step, capture::Phase::kDraft) < scene.cursor;
        }
        longest = std::max(longest, totals[static_cast<std::size_t>(step)]);
      }
      flush();
    }
    canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, scene.theme.border, 1,
                LineStyle::kSolid);
    for (const double tick :
         nice_integer_ticks(std::ceil(first), first + std::min(span, steps - first),
                            std::max(2, static_cast<int>(plot.w / (em * 4)))))
      if (tick < steps)
        draw_x_label(canvas, x.px(tick + 0.5), plot.bottom() + em * 0.15f, em * 1.1f, plot.x - em,
                     plot.right() + pad, std::to_string(std::llround(tick)), small);
    for (const BreakMark& mark : scene.breaks) {
      const float px = x.px(static_cast<double>(mark.tick) / capture::kPhaseCount);
      const Color color = scene.theme.legible(scene.theme.mark(capture::NodeState::kBonus).color);
      canvas.line({px, plot.y}, {px, plot.bottom()}, color, 1.2f, LineStyle::kDotted);
      if (mark.hit)
        canvas.fill_circle({px, plot.bottom() - em * 0.35f}, em * 0.28f, color);
      else
        canvas.stroke_circle({px, plot.bottom() - em * 0.35f}, em * 0.28f, color, 1.5f);
    }
    draw_bookmarks(
        canvas, plot, scene, [&](double step) { return x.px(step); },
        [&](float px, float width) { return clear_of_labels(px, width); });
    if (scene.twins && scene.twins->parting_step >= 0) {
      // The text leaves the other run's here.
      const float at = x.px(scene.twins->parting_step + 0.5);
      const float mark = plot.y + em * 0.5f + clear_of_labels(at, em * 0.95f);
      canvas.line({at, mark + em * 0.6f}, {at, plot.bottom()}, scene.theme.difference, 1.2f,
                  LineStyle::kDotted);
      draw_difference(canvas, {at, mark}, em * 0.75f, scene);
    }
    if (!metrics.empty()) {
      canvas.pop_clip();
      canvas.push_clip({plot.x, whole.y - 2, plot.w + pad, whole.h + 2});
      if (apart && scene.range) {
        const float a = x.px(scene.range->first), b = x.px(scene.range->second + 1);
        draw_range_band(canvas, {a, curves.y, b - a, curves.h}, scene);
      }
      draw_metric_curves(canvas, curves, x, metrics, seen, scene);
      canvas.pop_clip();
      canvas.push_clip({plot.x - em, plot.y - 2, plot.w + em + pad, plot.h + em * 1.6f});
    }
    if (*timed) {
      const Rect box{area.right() - pad - timed_width, tall ? area.y + em * 0.2f : plot.y,
                     timed_width, em * 1.3f};
      if (!tall) canvas.fill_rect(box, scene.theme.background.with_alpha(0.85f), em * 0.2f);
      canvas.pop_clip();
      text_in(canvas, box, timed, small, Align::kRight);
      canvas.push_clip({plot.x - em, plot.y - 2, plot.w + em + pad, plot.h + em * 1.6f});
    }
    if (scene.export_mode && !scene.series) return canvas.pop_clip();
    // The cursor has a handle.
    const float px = x.px(static_cast<double>(scene.cursor) / capture::kPhaseCount);
    canvas.line({px, plot.y}, {px, plot.bottom()}, scene.theme.current, 1.5f, LineStyle::kSolid);
    if (apart) {
      canvas.pop_clip();
      canvas.push_clip({curves.x - 1, curves.y, curves.w + 2, curves.h});
      canvas.line({px, curves.y}, {px, curves.bottom()}, scene.theme.current.with_alpha(0.7f), 1);
      canvas.pop_clip();
      canvas.push_clip({plot.x - em, plot.y - 2, plot.w + em + pad, plot.h + em * 1.6f});
    }
    const Point handle[] = {
        {px - em * 0.35f, plot.y - 1}, {px + em * 0.35f, plot.y - 1}, {px, plot.y + em * 0.5f}};
    canvas.fill_polygon(handle, scene.theme.current);
    canvas.pop_clip();
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture || plot_.area.w <= 0) return reaction;
    if (const double factor = zoom_of(in, kZoomSpeed); factor != 1)
      zoom_about(in.mouse.x, factor, scene);
    const double shift = (in.pan_right ? 0.2 : 0.0) - (in.pan_left ? 0.2 : 0.0) -
                         (in.inside ? 0.1 * static_cast<double>(in.wheel_x) : 0.0);
    if (shift != 0 && zoom_ > 1)
      first_ = std::max(0.0, plot_.x.low + shift * (plot_.x.high - plot_.x.low));
    if (in.fit) {
      zoom_ = 1;
      first_ = -1;
    }
    const double at = plot_.x.value(in.mouse.x);
    const std::int32_t last = scene.capture->last_step();
    const auto step_at = [&](float px) {
      return static_cast<std::int32_t>(
          std::clamp(std::floor(plot_.x.value(px)), 0.0, static_cast<double>(std::max(0, last))));
    };
    const std::int32_t step = step_at(in.mouse.x);
    if (in.shift && in.dragging) {
      if (range_from_ < 0) range_from_ = step_at(in.pressed.x);
      reaction.range = std::minmax(range_from_, step);
    } else if (in.dragging || in.clicked) {
      // The cursor goes to the nearest boundary of phases.
      reaction.cursor = std::clamp<capture::Tick>(
          static_cast<capture::Tick>(std::lround(at * capture::kPhaseCount)), 0,
          scene.capture->end_tick());
    }
    if (in.released || !in.dragging) range_from_ = -1;
    if (in.double_clicked) reaction.clear_range = true;
    if (!in.inside || !plot_.area.contains(in.mouse)) return reaction;
    for (const BreakMark& mark : scene.breaks)
      if (std::abs(plot_.x.px(static_cast<double>(mark.tick) / capture::kPhaseCount) - in.mouse.x) <
          scene.em * 0.5f)
        reaction.tooltip.push_back((mark.hit ? "● stopped here: " : "○ will stop here: ") +
                                   mark.text);
    if (scene.capture->run().timed_while_drawing)
      reaction.tooltip.push_back(std::string(kTimedWhileDrawing) + ": " + kTimedWhileDrawingHelp);
    if (at >= last + 1) return reaction;
    reaction.tooltip.insert(reaction.tooltip.begin(), "step " + std::to_string(step));
    const auto phases = scene.capture->phases();
    auto row = std::lower_bound(
        phases.begin(), phases.end(), capture::make_tick(step, capture::Phase::kDraft),
        [](const capture::PhaseRow& r, capture::Tick tick) { return r.tick < tick; });
    for (; has_times_ && row != phases.end() && capture::step_of(row->tick) == step &&
           row->tick < scene.cursor;
         ++row)
      reaction.tooltip.push_back(std::string(capture::to_string(capture::phase_of(row->tick))) +
                                 "  " + duration_text(static_cast<double>(row->duration_us)));
    if (const std::string figures = figures_text(step, scene); !figures.empty())
      reaction.tooltip.push_back(figures);
    for (const MetricCurve& curve : seen_metrics_.of(*scene.capture, scene.cursor))
      if (const MetricPoint* const point = curve.at(step))
        reaction.tooltip.push_back(curve.name + "  " + metric_text(*point));
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    return {scene.em * 56, scene.em * 14};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    // The recorder's own figures have columns where the cursor has seen any of a run that is shown, so
    // that both runs of a comparison have the same.
    const bool with_metrics = has_metrics(scene.capture, scene.cursor) ||
                              has_metrics(scene.beside.capture, scene.beside.cursor);
    out << "step,phase,start_us,duration_us" << (with_metrics ? ",metric,node,value" : "") << '\n';
    if (!scene.capture) return out.str();
    for (const capture::PhaseRow& row : scene.capture->phases()) {
      if (row.tick >= scene.cursor || !scene.in_range(capture::step_of(row.tick))) continue;
      out << capture::step_of(row.tick) << ',' << capture::to_string(capture::phase_of(row.tick))
          << ',' << row.start_us << ',' << row.duration_us << (with_metrics ? ",,," : "") << '\n';
    }
    for (const capture::MetricRow& row : scene.capture->metrics()) {
      if (row.tick >= scene.cursor || !scene.in_range(capture::step_of(row.tick))) continue;
      out << capture::step_of(row.tick) << ',' << capture::to_string(capture::phase_of(row.tick))
          << ",,," << csv_field(row.name) << ',';
      if (row.node != -1) out << row.node;
      out << ',' << csv_double(row.value) << '\n';
    }
    return out.str();
  }

 private:
  // The figures of a step that the cursor has seen: "5 rows, 3 tokens emitted".
  static std::string figures_text(std::int32_t step, const Scene& scene) {
    if (capture::make_tick(step, capture::Phase::kForward) >= scene.cursor)
      return step > scene.shown_step() ? "the cursor has not seen this step yet" : "";
    const auto figures = scene.capture->step(step);
    if (!figures) return "";
    std::string text = counted(figures->forward_rows, "row");
    const StepSoFar so_far = step_so_far(*scene.capture, step, scene.cursor);
    const bool is_whole =
        scene.cursor >=
        std::min(capture::make_tick(step + 1, capture::Phase::kDraft), scene.capture->end_tick());
    if (is_whole || so_far.decided)
      text += ", " + counted(is_whole ? figures->emitted : so_far.emitted, "token") + " emitted";
    return text;
  }

  static double steps_of(const Scene& scene) {
    const std::int32_t last = scene.capture->last_step();
    return 1 + (scene.beside.capture ? std::max(last, scene.beside.capture->last_step()) : last);
  }
  // Microseconds of each step.
  static std::vector<double> totals_of(const capture::Capture& capture) {
    std::vector<double> totals(static_cast<std::size_t>(capture.last_step() + 1), 0);
    for (const capture::PhaseRow& row : capture.phases())
      totals[static_cast<std::size_t>(capture::step_of(row.tick))] +=
          static_cast<double>(row.duration_us);
    return totals;
  }

  // The scale's top is that of the ordinary steps; 0 where no times were recorded. A step is cut only if it is at least kCutFactor
  // times as long as the scale.
  static double scale_top(const std::vector<double>& totals) {
    if (totals.empty()) return 0;
    std::vector<double> sorted(totals.begin() + (totals.size() > 1 ? 1 : 0), totals.end());
    std::ranges::sort(sorted);
    if (std::max(sorted.back(), totals.front()) <= 0) return 0;
    double high = std::max(1.0, sorted.back());
    if (totals.size() > 8) high = std::max(1.0, std::min(high, 2.5 * sorted[sorted.size() / 2]));
    sorted.push_back(totals.front());
    std::ranges::sort(sorted);
    for (const double total : sorted)
      if (total > high && total < kCutFactor * high) high = total;
    return high;
  }

  static Color color_of(const Scene& scene, capture::Phase phase) {
    static constexpr int kSeries[] = {3, 0, 2, 1, 4};
    return scene.theme.series(kSeries[static_cast<std::size_t>(phase)]);
  }

  // Zooms so that the place under the pointer stays there.
  void zoom_about(float px, double factor, const Scene& scene) {
    const double steps = steps_of(scene), at = plot_.x.value(px);
    zoom_ = std::clamp(zoom_ * factor, 1.0, kMaxTimeZoom);
    const double visible = std::max(1.0, std::min(steps / zoom_, steps));
    const double span =
        std::max(visible, static_cast<double>(plot_.area.w) / (scene.em * kMaxStepEm));
    const double first = low_about(plot_.x.low, at, span / (plot_.x.high - plot_.x.low));
    first_ = low_within(first, visible, 0, steps);
    // Zoom, pan and drawing agree at once, also before the next frame.
    plot_.x.low = zoom_ > 1 ? first_ : 0;
    plot_.x.high = plot_.x.low + span;
  }

  double zoom_ = 1;
  double first_ = -1;  // the first step shown; -1 = about the cursor
  capture::Tick cursor_ = -1;
  std::int32_t range_from_ = -1;
  bool has_times_ = false;  // of the run drawn last, or of the one beside it
  MetricCurves metrics_, seen_metrics_;
  struct {
    Rect area;
    AxisScale x;
  } plot_;
};

}  // namespace

std::unique_ptr<Panel> make_timeline_panel() { return std::make_unique<TimelinePanel>(); }

}  // namespace triescope::viz
