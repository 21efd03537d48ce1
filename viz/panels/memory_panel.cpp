// Memory: KV tokens over the steps: live, garbage and reserved, beside what greedy decoding and
// conventional batch beam search would hold.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>

#include "viz/draw.h"
#include "viz/layouts/axis.h"
#include "viz/panels/panels.h"

namespace triescope::viz {
namespace {

using capture::MemoryRow;

constexpr std::size_t kCurves = 6;
constexpr std::array<const char*, kCurves> kNames = {"live",   "garbage",    "reserved",
                                                     "greedy", "batch beam", "CUDA allocator"};

class MemoryPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "memory", "Memory",
        "KV memory by step: live, garbage and reserved slots of this run, beside what greedy "
        "decoding and batch beam search would hold at the same length. Click to go to a step, "
        "click "
        "a name to hide its curve, wheel to zoom.",
        "No memory samples yet: step once (F10)."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    plot_ = {};
    button_ = {};
    legend_.clear();
    const auto rows = rows_of(scene);
    if (rows.empty()) return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em, pad = em * 0.6f;
    const auto per_token = static_cast<double>(scene.capture->run().kv_bytes_per_token);
    const std::int32_t shown = scene.shown_step();
    const MemoryRow& now = at_step(rows, shown);
    const auto has = curves_of(rows);

    float right = area.right() - pad;
    if (!scene.export_mode && area.w > em * 24) {
      button_ =
          draw_button(canvas, {right, area.y + em * 0.2f}, stacked_ ? "stacked" : "lines", scene);
      right = button_.x - pad;
    }
    std::vector<LegendEntry> entries;
    legend_curves_.clear();
    for (std::size_t i = 0; i < kCurves; ++i) {
      if (!has[i]) continue;
      const std::string value =
          i == 5 ? bytes_text(static_cast<double>(now.device_allocated_bytes))
                 : std::to_string(static_cast<long long>(value_of(now, i, per_token)));
      entries.push_back(
          {std::string(kNames[i]) + " " + value, color_of(i, scene), "", line_of(i), hidden_[i]});
      legend_curves_.push_back(i);
    }
    float top = area.y + em * 0.2f;
    top +=
        draw_legend(canvas, {area.x + pad, top}, right - area.x - pad, entries, scene, &legend_) +
        em * 0.15f;
    if (const std::string ratio = ratio_text(rows, now, has, per_token, scene.export_mode);
        !ratio.empty() && area.h > em * 13 && area.w > em * 24) {
      text_in(canvas, {area.x + pad, top, area.w - 2 * pad, em * 1.2f}, ratio,
              ui_text(scene, 0.84f));
      top += em * 1.35f;
    }

    const bool wide = area.w > em * 22, units = area.bottom() - top > em * 7;
    const Rect plot{area.x + em * 3.4f, top + em * 0.5f,
                    std::max(1.0f, area.w - em * 3.4f - (wide ? em * 4.8f : em * 1.2f)),
                    area.bottom() - top - em * (units ? 3.0f : 1.9f)};
    if (plot.h < em) return;
    double high = 1, reserved = 0;
    for (const MemoryRow& row : rows)
      for (std::size_t i = 0; i < kCurves; ++i) {
        if (!has[i] || hidden_[i]) continue;
        double& most = i == 2 || i == 5 ? reserved : high;
        most = std::max(most, stacked_ && i == 1 ? static_cast<double>(row.live + row.garbage)
                                                 : value_of(row, i, per_token));
      }
    // What is reserved grows in jumps: it is shown, but must not flatten the rest.
    high = std::max(high, std::min(reserved, high * 1.6)) * 1.06;
    const double first = rows.front().step, last = std::max<double>(rows.back().step, first + 1);
    const double span = std::max(1.0, (last - first) / (scene.export_mode ? 1 : zoom_));
    const double from =
        scene.export_mode ? first : std::clamp(from_, first, std::max(first, last - span));
    const AxisScale x{from, from + span, plot.x, plot.right()}, y{0, high, plot.bottom(), plot.y};
    plot_ = {plot, x, first, last};
    draw_axes(canvas, area, plot, x, y, wide, units, per_token, scene);

    canvas.push_clip({plot.x - 1, plot.y - 2, plot.w + 3, plot.h + 4});
    if (scene.range) {
      const float a = x.px(scene.range->first), b = x.px(scene.range->second + 1);
      canvas.fill_rect({a, plot.y, b - a, plot.h}, scene.theme.accent.with_alpha(0.1f));
    }
    if (stacked_ && !scene.export_mode) draw_areas(canvas, rows, x, y, scene);
    for (const std::size_t i : {2u, 4u, 3u, 5u, 1u, 0u})
      if (has[i] && !hidden_[i]) draw_curve(canvas, rows, x, y, i, per_token, scene);
    if (!scene.export_mode && shown >= 0) {
      const float px = x.px(std::clamp<double>(shown, first, last));
      canvas.line({px, plot.y}, {px, plot.bottom()}, scene.theme.current.with_alpha(0.7f), 1);
      for (std::size_t i = 0; i < kCurves; ++i)
        if (has[i] && !hidden_[i])
          canvas.fill_circle({px, y.px(std::min(high, curve_value(now, i, per_token)))}, em * 0.22f,
                             color_of(i, scene));
    }
    canvas.pop_clip();
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    const auto rows = rows_of(scene);
    if (rows.empty()) return reaction;
    const float factor = (in.wheel != 0 && in.inside ? std::pow(1.2f, in.wheel) : 1.0f) *
                         (in.zoom_in ? 1.3f : 1.0f) * (in.zoom_out ? 0.77f : 1.0f);
    if (factor != 1.0f && plot_.area.w > 0) {
      const double steps = plot_.last - plot_.first, at = plot_.x.value(in.mouse.x);
      const double zoom = std::clamp(zoom_ * factor, 1.0, std::max(1.0, steps / 4));
      from_ = at - (at - plot_.x.low) * zoom_ / zoom;
      zoom_ = zoom;
    }
    const double step_px = plot_.area.w > 0 ? (plot_.x.high - plot_.x.low) / plot_.area.w : 0;
    const double pan = (in.pan_right ? 60.0 : 0.0) - (in.pan_left ? 60.0 : 0.0) -
                       static_cast<double>(in.wheel_x) * 40.0;
    if (pan != 0) from_ = plot_.x.low + pan * step_px;
    if (in.fit) zoom_ = 1, from_ = 0;
    if (!in.inside) return reaction;
    if (button_.contains(in.mouse)) {
      reaction.tooltip = {"lines: every curve by itself · stacked: garbage upon live"};
      if (in.clicked) stacked_ = !stacked_;
      return reaction;
    }
    for (std::size_t i = 0; i < legend_.size() && i < legend_curves_.size(); ++i)
      if (legend_[i].contains(in.mouse)) {
        reaction.tooltip = {meaning(legend_curves_[i]), "click: hide or show the curve"};
        if (in.clicked) hidden_[legend_curves_[i]] = !hidden_[legend_curves_[i]];
        return reaction;
      }
    if (!plot_.area.contains(in.mouse)) return reaction;
    const auto step = static_cast<std::int32_t>(std::lround(plot_.x.value(in.mouse.x)));
    const MemoryRow& row = at_step(rows, step);
    const auto per_token = static_cast<double>(scene.capture->run().kv_bytes_per_token);
    reaction.tooltip = {
        "step " + std::to_string(row.step),
        "live " + std::to_string(row.live) + " tokens × " + bytes_text(per_token) + " = " +
            bytes_text(row.live * per_token),
        "garbage " + std::to_string(row.garbage) + ", reserved " + std::to_string(row.reserved),
        "greedy = prompt + generated = " + std::to_string(row.greedy),
        "batch beam = beams × (prompt + generated) = " + std::to_string(row.batch_beam),
        "moved in this step: " + bytes_text(static_cast<double>(row.moved_bytes))};
    if (row.batch_beam > 0)
      reaction.tooltip.push_back(
          "(live + garbage) / batch beam = " +
          number_text(static_cast<double>(row.live + row.garbage) / row.batch_beam, 3));
    if (row.device_allocated_bytes >= 0)
      reaction.tooltip.push_back(
          "CUDA allocator: " + bytes_text(static_cast<double>(row.device_allocated_bytes)) +
          " in use, " + bytes_text(static_cast<double>(row.device_reserved_bytes)) + " reserved");
    if (in.clicked || in.dragging)
      reaction.cursor = std::min(scene.capture->end_tick(),
                                 capture::make_tick(row.step + 1, capture::Phase::kDraft));
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    return {scene.em * 52, scene.em * 27};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "step,live_tokens,garbage_tokens,reserved_tokens,greedy_tokens,batch_beam_tokens,moved_"
           "bytes,kv_bytes_per_token,device_allocated_bytes,device_reserved_bytes\n";
    for (const MemoryRow& row : rows_of(scene))
      out << row.step << ',' << row.live << ',' << row.garbage << ',' << row.reserved << ','
          << row.greedy << ',' << row.batch_beam << ',' << row.moved_bytes << ','
          << scene.capture->run().kv_bytes_per_token << ',' << row.device_allocated_bytes << ','
          << row.device_reserved_bytes << '\n';
    return out.str();
  }

  // "stacked;hidden=reserved,greedy"
  std::string view_state() const override {
    std::string out = stacked_ ? "stacked" : "lines";
    bool first = true;
    for (std::size_t i = 0; i < kCurves; ++i) {
      if (!hidden_[i]) continue;
      out += (first ? ";hidden=" : ",") + std::string(kNames[i]);
      first = false;
    }
    return out;
  }
  void set_view_state(const std::string& state) override {
    stacked_ = state.rfind("stacked", 0) == 0;
    hidden_.fill(false);
    const auto list = state.find("hidden=");
    if (list == std::string::npos) return;
    std::istringstream names(state.substr(list + 7));
    for (std::string name; std::getline(names, name, ',');)
      for (std::size_t i = 0; i < kCurves; ++i)
        if (name == kNames[i]) hidden_[i] = true;
  }

 private:
  static Color color_of(std::size_t curve, const Scene& s) {
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
  static LineStyle line_of(std::size_t curve) {
    return curve == 1 || curve == 3 ? LineStyle::kDashed
           : curve == 2             ? LineStyle::kDotted
                                    : LineStyle::kSolid;
  }
  static std::string meaning(std::size_t curve) {
    static constexpr std::array<const char*, kCurves> kMeanings = {
        "live: KV that some live path still needs",
        "garbage: KV of dead nodes that still occupies a slot",
        "reserved: slots allocated, used or not",
        "greedy = prompt + generated: what greedy decoding would hold at this length",
        "batch beam = beams × (prompt + generated): what conventional batch beam search would hold",
        "what libtorch's CUDA allocator has in use, weights included, as KV tokens"};
    return kMeanings[curve];
  }

  static double value_of(const MemoryRow& row, std::size_t curve, double per_token) {
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
  double curve_value(const MemoryRow& row, std::size_t curve, double per_token) const {
    return curve == 1 && stacked_ ? row.live + row.garbage : value_of(row, curve, per_token);
  }

  // Curves there is something to say about.
  static std::array<bool, kCurves> curves_of(const std::vector<MemoryRow>& rows) {
    std::array<bool, kCurves> has = {true, false, true, true, false, false};
    for (const MemoryRow& row : rows) {
      has[1] |= row.garbage > 0;
      has[4] |= row.batch_beam > row.greedy;  // one beam is greedy decoding
      has[5] |= row.device_allocated_bytes >= 0;
    }
    return has;
  }

  static std::string ratio_text(const std::vector<MemoryRow>& rows, const MemoryRow& now,
                                const std::array<bool, kCurves>& has, double per_token,
                                bool whole_run) {
    if (!has[4] || now.batch_beam <= 0) return "";
    double held = 0, batch = 1, share = 0;
    for (const MemoryRow& row : rows) {
      share +=
          row.batch_beam > 0 ? static_cast<double>(row.live + row.garbage) / row.batch_beam : 1;
      held = std::max(held, static_cast<double>(row.live + row.garbage));
      batch = std::max(batch, static_cast<double>(row.batch_beam));
    }
    if (whole_run)
      return "peak " + bytes_text(held * per_token) + ", " + number_text(held / batch, 2) +
             " × batch beam search's " + bytes_text(batch * per_token) + "; mean over the steps " +
             number_text(share / static_cast<double>(rows.size()), 2) + " ×";
    const double used = now.live + now.garbage;
    return "step " + std::to_string(now.step) + ": " + bytes_text(used * per_token) + " held, " +
           number_text(used / now.batch_beam, 2) + " × batch beam search's " +
           bytes_text(now.batch_beam * per_token) + "; peaks " + number_text(held / batch, 2) +
           " ×";
  }

  static void draw_axes(Canvas& canvas, Rect area, Rect plot, const AxisScale& x,
                        const AxisScale& y, bool wide, bool units, double per_token,
                        const Scene& scene) {
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

  // The rows to plot: up to the cursor in an export, all that is known on the screen (the cursor is
  // a line there), within the range.
  static std::vector<MemoryRow> rows_of(const Scene& scene) {
    std::vector<MemoryRow> rows;
    if (!scene.capture) return rows;
    for (const MemoryRow& row : scene.capture->memory()) {
      if (scene.range && (row.step < scene.range->first || row.step > scene.range->second))
        continue;
      if (scene.export_mode &&
          capture::make_tick(row.step, capture::Phase::kCommit) >= scene.cursor)
        continue;
      rows.push_back(row);
    }
    return rows;
  }

  static const MemoryRow& at_step(const std::vector<MemoryRow>& rows, std::int32_t step) {
    const auto after =
        std::upper_bound(rows.begin(), rows.end(), step,
                         [](std::int32_t s, const MemoryRow& row) { return s < row.step; });
    return after == rows.begin() ? rows.front() : *std::prev(after);
  }

  // At most the highest and the lowest of what falls on one px: no peak is lost.
  void draw_curve(Canvas& canvas, const std::vector<MemoryRow>& rows, const AxisScale& x,
                  const AxisScale& y, std::size_t curve, double per_token,
                  const Scene& scene) const {
    std::vector<Point> points;
    const bool stairs = curve == 2;
    float column = -1e9f, low = 0, high = 0;
    const auto flush = [&] {
      if (column < -1e8f) return;
      points.push_back({column, low});
      if (high != low) points.push_back({column, high});
    };
    for (const MemoryRow& row : rows) {
      const Point p{x.px(row.step), y.px(curve_value(row, curve, per_token))};
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

  // Opaque and a little too wide: translucent areas side by side would show their seams.
  static void draw_areas(Canvas& canvas, const std::vector<MemoryRow>& rows, const AxisScale& x,
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

  bool stacked_ = false;
  std::array<bool, kCurves> hidden_ = {};
  double zoom_ = 1, from_ = 0;
  struct {
    Rect area;
    AxisScale x;
    double first = 0, last = 1;
  } plot_;
  Rect button_;
  std::vector<Rect> legend_;
  std::vector<std::size_t> legend_curves_;
};

}  // namespace

std::unique_ptr<Panel> make_memory_panel() { return std::make_unique<MemoryPanel>(); }

}  // namespace triescope::viz
