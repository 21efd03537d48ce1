// Memory: KV tokens over the steps: live, garbage and reserved, beside what greedy decoding and
// conventional batch beam search would hold.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/draw.h"
#include "viz/layouts/axis.h"
#include "viz/panels/panels.h"

namespace triescope::viz {
namespace {

class MemoryPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "memory", "Memory",
        "KV memory by step: live, garbage and reserved slots of this run, beside what greedy "
        "decoding and batch beam search would hold at the same length. Click to go to a step.",
        "No memory samples yet: step once (F10)."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    plot_ = {};
    const auto rows = rows_of(scene);
    if (rows.empty()) return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em, pad = em * 0.6f;
    const double per_token = static_cast<double>(scene.capture->run().kv_bytes_per_token);
    const std::int32_t shown = scene.shown_step();
    const capture::MemoryRow& now = at_step(rows, shown);
    const auto with = [](const char* name, std::int32_t value) {
      return std::string(name) + " " + std::to_string(value);
    };
    std::vector<LegendEntry> entries = {
        {with("live", now.live), live_color(scene), "", LineStyle::kSolid}};
    const bool garbage =
        std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.garbage > 0; });
    if (garbage)
      entries.push_back({with("live + garbage", now.live + now.garbage), garbage_color(scene), "",
                         LineStyle::kDashed});
    entries.push_back(
        {with("reserved", now.reserved), reserved_color(scene), "", LineStyle::kDotted});
    entries.push_back({with("greedy", now.greedy), greedy_color(scene), "", LineStyle::kDashed});
    entries.push_back(
        {with("batch beam", now.batch_beam), batch_color(scene), "", LineStyle::kSolid});
    const bool device = now.device_allocated_bytes >= 0;
    if (device)
      entries.push_back({"allocator " + bytes_text(static_cast<double>(now.device_allocated_bytes)),
                         scene.theme.series(5), "", LineStyle::kSolid});
    float top = area.y + em * 0.2f;
    top += draw_legend(canvas, {area.x + pad, top}, area.w - 2 * pad, entries, scene) + em * 0.2f;
    if (now.batch_beam > 0 && area.h > em * 11) {
      text_in(canvas, {area.x + pad, top, area.w - 2 * pad, em * 1.1f},
              "step " + std::to_string(now.step) + ": " +
                  number_text(static_cast<double>(now.live + now.garbage) / now.batch_beam, 2) +
                  " of batch beam search (" + bytes_text((now.live + now.garbage) * per_token) +
                  " instead of " + bytes_text(now.batch_beam * per_token) + ")",
              dim_text(scene, 0.8f));
      top += em * 1.3f;
    }

    const bool wide = area.w > em * 20;
    const Rect plot{area.x + em * 3.6f, top + em * 0.3f,
                    std::max(em, area.w - em * 3.6f - (wide ? em * 4.6f : pad)),
                    std::max(em, area.bottom() - top - em * 2.6f)};
    double high = 1;
    for (const auto& row : rows)
      high = std::max({high, static_cast<double>(row.live + row.garbage),
                       static_cast<double>(row.batch_beam), static_cast<double>(row.greedy)});
    // Reserved grows in jumps: it is shown, but must not flatten the rest.
    double reserved = 0;
    for (const auto& row : rows) reserved = std::max(reserved, static_cast<double>(row.reserved));
    high = std::max(high, std::min(reserved, high * 1.6)) * 1.06;
    const double first = rows.front().step, last = std::max<double>(rows.back().step, first + 1);
    const AxisScale x{first, last, plot.x, plot.right()}, y{0, high, plot.bottom(), plot.y};
    plot_ = {plot, x};
    const TextStyle small = dim_text(scene, 0.76f);
    for (const double tick :
         nice_integer_ticks(0, high, std::max(2, static_cast<int>(plot.h / (em * 2.4f))))) {
      const float py = y.px(tick);
      canvas.line({plot.x, py}, {plot.right(), py}, scene.theme.grid, 1, LineStyle::kSolid);
      text_in(canvas, {area.x, py - em * 0.6f, em * 3.3f, em * 1.2f},
              std::to_string(static_cast<long long>(tick)), small, Align::kRight);
      if (wide)
        text_in(canvas, {plot.right() + em * 0.3f, py - em * 0.6f, em * 4.2f, em * 1.2f},
                bytes_text(tick * per_token), small);
    }
    for (const double tick :
         nice_integer_ticks(first, last, std::max(2, static_cast<int>(plot.w / (em * 4)))))
      text_in(canvas, {x.px(tick) - em * 2, plot.bottom() + em * 0.15f, em * 4, em * 1.1f},
              std::to_string(static_cast<long long>(tick)), small, Align::kCenter);
    text_in(canvas, {plot.x, plot.bottom() + em * 1.15f, plot.w, em * 1.1f},
            "step   (left: KV tokens, right: bytes)", small, Align::kCenter);
    canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, scene.theme.border, 1,
                LineStyle::kSolid);
    canvas.line({plot.x, plot.y}, {plot.x, plot.bottom()}, scene.theme.border, 1,
                LineStyle::kSolid);

    canvas.push_clip({plot.x, plot.y - 2, plot.w + 2, plot.h + 4});
    curve(
        canvas, rows, x, y, [](const auto& r) { return r.reserved; }, reserved_color(scene), 1.3f,
        LineStyle::kDotted);
    curve(
        canvas, rows, x, y, [](const auto& r) { return r.batch_beam; }, batch_color(scene), 1.8f,
        LineStyle::kSolid);
    curve(
        canvas, rows, x, y, [](const auto& r) { return r.greedy; }, greedy_color(scene), 1.5f,
        LineStyle::kDashed);
    if (garbage)
      curve(
          canvas, rows, x, y, [](const auto& r) { return r.live + r.garbage; },
          garbage_color(scene), 1.5f, LineStyle::kDashed);
    curve(
        canvas, rows, x, y, [](const auto& r) { return r.live; }, live_color(scene), 2.4f,
        LineStyle::kSolid);
    if (device && per_token > 0)
      curve(
          canvas, rows, x, y,
          [&](const auto& r) { return static_cast<double>(r.device_allocated_bytes) / per_token; },
          scene.theme.series(5), 1.3f, LineStyle::kSolid);
    canvas.pop_clip();
    if (!scene.export_mode && shown >= 0) {
      const float px = x.px(std::clamp<double>(shown, first, last));
      canvas.line({px, plot.y}, {px, plot.bottom()}, scene.theme.current.with_alpha(0.7f), 1,
                  LineStyle::kSolid);
      canvas.fill_circle({px, y.px(now.live)}, em * 0.25f, live_color(scene));
    }
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    const auto rows = rows_of(scene);
    if (!in.inside || rows.empty() || !plot_.area.contains(in.mouse)) return reaction;
    const auto step = static_cast<std::int32_t>(std::lround(plot_.x.value(in.mouse.x)));
    const capture::MemoryRow& row = at_step(rows, step);
    const double per_token = static_cast<double>(scene.capture->run().kv_bytes_per_token);
    reaction.tooltip = {
        "step " + std::to_string(row.step),
        "live " + std::to_string(row.live) + " tokens = " + bytes_text(row.live * per_token),
        "garbage " + std::to_string(row.garbage) + ", reserved " + std::to_string(row.reserved),
        "greedy = prompt + generated = " + std::to_string(row.greedy),
        "batch beam = beams × (prompt + generated) = " + std::to_string(row.batch_beam),
        "moved in this step: " + bytes_text(static_cast<double>(row.moved_bytes))};
    if (in.clicked || in.dragging)
      reaction.cursor = capture::make_tick(row.step + 1, capture::Phase::kDraft);
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    return {scene.em * 52, scene.em * 26};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "step,live_tokens,garbage_tokens,reserved_tokens,greedy_tokens,batch_beam_tokens,moved_"
           "bytes,kv_bytes_per_token,device_allocated_bytes,device_reserved_bytes\n";
    if (!scene.capture) return out.str();
    for (const capture::MemoryRow& row : rows_of(scene))
      out << row.step << ',' << row.live << ',' << row.garbage << ',' << row.reserved << ','
          << row.greedy << ',' << row.batch_beam << ',' << row.moved_bytes << ','
          << scene.capture->run().kv_bytes_per_token << ',' << row.device_allocated_bytes << ','
          << row.device_reserved_bytes << '\n';
    return out.str();
  }

 private:
  static Color live_color(const Scene& s) { return s.theme.series(0); }
  static Color garbage_color(const Scene& s) {
    return s.theme.mark(capture::NodeState::kPruned).color;
  }
  static Color reserved_color(const Scene& s) { return s.theme.text_dim; }
  static Color greedy_color(const Scene& s) { return s.theme.series(2); }
  static Color batch_color(const Scene& s) { return s.theme.series(1); }

  // The rows to plot: up to the cursor in an export, all that is known on the screen (the cursor is
  // a line there), within the range.
  static std::vector<capture::MemoryRow> rows_of(const Scene& scene) {
    std::vector<capture::MemoryRow> rows;
    if (!scene.capture) return rows;
    for (const capture::MemoryRow& row : scene.capture->memory()) {
      if (scene.range && (row.step < scene.range->first || row.step > scene.range->second))
        continue;
      if (scene.export_mode &&
          capture::make_tick(row.step, capture::Phase::kCommit) >= scene.cursor)
        continue;
      rows.push_back(row);
    }
    return rows;
  }

  static const capture::MemoryRow& at_step(const std::vector<capture::MemoryRow>& rows,
                                           std::int32_t step) {
    const auto after = std::upper_bound(
        rows.begin(), rows.end(), step,
        [](std::int32_t s, const capture::MemoryRow& row) { return s < row.step; });
    return after == rows.begin() ? rows.front() : *std::prev(after);
  }

  // One point a px at most: the highest and lowest of what falls on it.
  template <class Value>
  static void curve(Canvas& canvas, const std::vector<capture::MemoryRow>& rows, const AxisScale& x,
                    const AxisScale& y, Value value, Color color, float width, LineStyle style) {
    std::vector<Point> points;
    float column = -1e9f;
    for (const capture::MemoryRow& row : rows) {
      const Point p{x.px(row.step), y.px(static_cast<double>(value(row)))};
      if (p.x - column < 1 && !points.empty() && &row != &rows.back()) {
        points.back().y = std::min(points.back().y, p.y);
        continue;
      }
      column = p.x;
      points.push_back(p);
    }
    if (points.size() == 1) points.push_back({points[0].x + 2, points[0].y});
    canvas.polyline(points, color, width, style);
  }

  struct {
    Rect area;
    AxisScale x;
  } plot_;
};

}  // namespace

std::unique_ptr<Panel> make_memory_panel() { return std::make_unique<MemoryPanel>(); }

}  // namespace triescope::viz
