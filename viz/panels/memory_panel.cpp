// Memory: KV tokens over the steps: live, garbage and reserved, beside what greedy decoding and
// conventional batch beam search would hold.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/range_band.h"
#include "viz/layouts/axis.h"
#include "viz/layouts/zoom.h"
#include "viz/panels/memory_curves.h"
#include "viz/panels/memory_head.h"
#include "viz/panels/owner_switch.h"
#include "viz/panels/panel_rows.h"
#include "viz/panels/panels.h"
#include "viz/panels/zoom_input.h"
#include "viz/query/kv_levels.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

using namespace memory_curves;
using capture::MemoryRow;

constexpr float kUnseenVeil = 0.65f;  // lies over the curves behind the cursor
constexpr ZoomSpeed kMemoryZoomSpeed = {1.2, 1.3, 0.77};

// The KV that the policy copied in a step. batch gathers every beam's whole cache, even if the beam stays in its
// place; compact moves survivors.
std::string copied_text(const MemoryRow& row, double per_token, const Scene& scene) {
  std::string text = "copied in this step: ";
  if (per_token > 0)
    text += counted(std::lround(static_cast<double>(row.moved_bytes) / per_token), "slot") + " = ";
  text += bytes_text(static_cast<double>(row.moved_bytes));
  if (row.moved_bytes > 0 && scene.capture->run().kv_policy == "batch")
    text += ", every beam's whole cache";
  return text;
}

class MemoryPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "memory",
        "Memory",
        std::string("KV memory by step: live, garbage and reserved slots of this run, beside what "
                    "greedy decoding and batch beam search would hold at the same length. Click to "
                    "go to a step, click a name to hide its curve, wheel to zoom.") +
            OwnerSwitch::kHelp,
        "Decode the same prompt with twice the beams and compare both runs: the curve of "
        "batch beam search doubles, this one does not.",
        "No memory samples yet: step once (F10).",
        /*rows=*/{"memory"},
        /*zooms=*/true};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    plot_ = {};
    button_ = {};
    legend_.clear();
    whole_line_ = {};
    const float em = scene.em, pad = em * 0.6f;
    const RowSource source = owner_.source(scene);
    const Rect owner = owner_.draw(canvas, area, scene);
    const auto rows = rows_of(source, scene);
    if (rows.empty())
      return draw_empty_state(
          canvas, area,
          source.is_target() ? empty_text(scene.capture, info(), info().empty) : info().empty,
          scene);
    const auto per_token = static_cast<double>(source.kv_bytes_per_token(*scene.capture));
    const std::int32_t shown = scene.shown_step();
    const bool outside = scene.range && !scene.in_range(shown);
    const MemoryHead head = memory_head(source, rows, hidden_, scene);
    const auto& [now, has, peak, all, moment, entries, curves, lines, whole] = head;
    peak_ = peak;
    whole_ = whole;
    legend_curves_ = curves;

    const auto legend_end = [&](float switch_width) {
      return area.right() - pad - (switch_width > 0 ? switch_width + pad : 0);
    };
    float right = legend_end(owner.w), beside_button = 0;
    if (scene.has_buttons() && area.w > em * 24) {
      button_ =
          draw_button(canvas, {right, area.y + em * 0.2f}, stacked_ ? "stacked" : "lines", scene);
      beside_button = button_.w + pad;
    }
    right -= beside_button;
    whole_line_ = draw_memory_head(canvas, head, area, right, legend_, scene);
    float top = area.y + head_height(canvas, head, area, right, scene);
    // Compared runs have plots of one height, so that what is more looks more.
    if (scene.beside.capture) {
      const Scene other = scene.of_beside();
      const RowSource others = owner_.source(other);
      if (const auto there = rows_of(others, other); !there.empty())
        top = std::max(
            top, area.y + head_height(canvas, memory_head(others, there, hidden_, other), area,
                                      legend_end(owner_.width(canvas, area, other)) - beside_button,
                                      scene));
    }
    // A run that has ended needs no KV, so the curves end with its last step rather than fall.
    const auto drawn = before_release(rows, source, *scene.capture);
    const auto peaks = step_peaks(rows, source, scene);

    const bool wide = area.w > em * 22 && per_token > 0, units = area.bottom() - top > em * 7;
    const Rect plot{area.x + em * 3.4f, top + em * 0.5f,
                    std::max(1.0f, area.w - em * 3.4f - (wide ? em * 4.8f : em * 1.2f)),
                    area.bottom() - top - em * (units ? 3.0f : 1.9f)};
    if (plot.h < em) return;
    double high = top_of(rows, per_token);
    double first = rows.front().step, last = std::max<double>(rows.back().step, first + 1);
    if (scene.beside.capture) {
      const Scene other = scene.of_beside();
      const RowSource others = owner_.source(other);
      if (const auto there = rows_of(others, other); !there.empty()) {
        high = std::max(
            high, top_of(there, static_cast<double>(others.kv_bytes_per_token(*other.capture))));
        for (const auto& [step, held] : step_peaks(there, others, other))
          high = std::max(high, held * 1.06);
        const auto theirs = static_cast<double>(others.kv_bytes_per_token(*other.capture));
        for (const auto& [step, held] : all_caches(there, others, theirs, other).steps)
          high = std::max(high, held * 1.06);
        first = std::min<double>(first, there.front().step);
        last = std::max<double>(last, there.back().step);
      }
    }
    for (const auto& [step, held] : peaks) high = std::max(high, held * 1.06);
    for (const auto& [step, held] : all.steps) high = std::max(high, held * 1.06);
    const double span = std::max(1.0, (last - first) / (scene.export_mode ? 1 : zoom_));
    const double from = scene.export_mode ? first : low_within(from_, span, first, last);
    const AxisScale x{from, from + span, plot.x, plot.right()}, y{0, high, plot.bottom(), plot.y};
    plot_ = {plot, x, first, last};
    draw_axes(canvas, area, plot, x, y, wide, units, per_token, scene);

    canvas.push_clip({plot.x - 1, plot.y - 2, plot.w + 3, plot.h + 4});
    if (scene.range) {
      const float a = x.px(scene.range->first), b = x.px(scene.range->second + 1);
      draw_range_band(canvas, {a, plot.y, b - a, plot.h}, scene);
    }
    draw_all_caches(canvas, all, drawn, x, y, scene);
    if (stacked_ && !scene.export_mode) draw_areas(canvas, drawn, x, y, scene);
    for (const std::size_t i : {2u, 4u, 3u, 5u, 1u, 0u})
      if (has[i] && !hidden_[i]) draw_curve(canvas, drawn, x, y, i, per_token, scene, stacked_);
    draw_peaks(canvas, peaks, x, y, scene);
    // The part that the cursor has not seen is pale, as in the timeline.
    if ((!scene.export_mode || scene.series) && scene.cursor < scene.capture->end_tick()) {
      const float now = std::clamp(x.px(std::max(0, shown)), plot.x, plot.right());
      canvas.fill_rect({now, plot.y, plot.right() - now, plot.h},
                       scene.theme.background.with_alpha(kUnseenVeil));
    }
    if ((!scene.export_mode || scene.series) && shown >= 0 && !outside) {
      const float px = x.px(std::clamp<double>(shown, first, last));
      canvas.line({px, plot.y}, {px, plot.bottom()}, scene.theme.current.with_alpha(0.7f), 1);
      for (std::size_t i = 0; i < kCurves; ++i)
        if (has[i] && !hidden_[i])
          canvas.fill_circle({px, y.px(std::min(high, curve_value(now, i, per_token, stacked_)))},
                             em * 0.22f, color_of(i, scene));
    }
    canvas.pop_clip();
    peak_mark_ = {};
    if (peak_ && x.low <= capture::step_of(peak_->tick) &&
        capture::step_of(peak_->tick) <= x.high) {
      const Point at{x.px(capture::step_of(peak_->tick)), y.px(peak_->held())};
      draw_glyph(canvas, "▼", {at.x, at.y - em * 0.5f}, em * 0.8f, color_of(0, scene));
      peak_mark_ = {at.x - em * 0.6f, at.y - em * 1.1f, em * 1.2f, em * 1.2f};
      const std::string label =
          std::to_string(peak_->held()) + ", step " + std::to_string(capture::step_of(peak_->tick));
      const TextStyle small = ui_text(scene, 0.76f);
      const float width = canvas.measure(label, small).x + em * 0.4f;
      const float left =
          at.x + em * 0.6f + width < plot.right() ? at.x + em * 0.6f : at.x - em * 0.6f - width;
      if (left > plot.x) {
        const Rect box{left, at.y - em * 1.1f, width, em * 1.1f};
        canvas.fill_rect(box, scene.theme.background.with_alpha(0.85f), em * 0.2f);
        text_in(canvas, box, label, small, Align::kCenter);
      }
    }
    if (scene.lights() && !outside) {  // the marks stand on corners, over the edge of the plot
      const float px = x.px(std::clamp<double>(shown, first, last));
      for (std::size_t i = 0; i < kCurves; ++i) {
        const double value = curve_value(now, i, per_token, stacked_);
        if (!has[i] || hidden_[i] || !is_lit(source, value, i, per_token, scene)) continue;
        const float py = y.px(std::min(high, value)), half = em * 0.4f;
        draw_lit(canvas, {px - half, py - half, 2 * half, 2 * half}, em * 0.5f, scene);
      }
    }
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (in.fold) stacked_ = !stacked_;
    if (owner_.input(in, scene, reaction)) return reaction;
    const RowSource source = owner_.source(scene);
    const auto rows = rows_of(source, scene);
    if (rows.empty()) return reaction;
    if (const double factor = zoom_of(in, kMemoryZoomSpeed); factor != 1 && plot_.area.w > 0) {
      const double steps = plot_.last - plot_.first;
      const double zoom = std::clamp(zoom_ * factor, 1.0, std::max(1.0, steps / 4));
      from_ = low_about(plot_.x.low, plot_.x.value(in.mouse.x), zoom_ / zoom);
      zoom_ = zoom;
    }
    const double step_px = plot_.area.w > 0 ? (plot_.x.high - plot_.x.low) / plot_.area.w : 0;
    const double pan = (in.pan_right ? 60.0 : 0.0) - (in.pan_left ? 60.0 : 0.0) -
                       static_cast<double>(in.wheel_x) * 40.0;
    if (pan != 0) from_ = plot_.x.low + pan * step_px;
    if (in.fit) zoom_ = 1, from_ = 0;
    if (!in.inside) return reaction;
    if (button_.contains(in.mouse)) {
      reaction.tooltip = {"lines: every curve by itself · stacked: garbage on top of live"};
      if (in.clicked) stacked_ = !stacked_;
      return reaction;
    }
    for (std::size_t i = 0; i < legend_.size() && i < legend_curves_.size(); ++i)
      if (legend_[i].contains(in.mouse)) {
        reaction.tooltip = {meaning(legend_curves_[i]),
                            "click, or the tab's menu: hide or show the curve"};
        if (in.clicked) flip_curve(kNames[legend_curves_[i]]);
        return reaction;
      }
    if (peak_ &&
        (peak_mark_.contains(in.mouse) || (legend_.size() > legend_curves_.size() &&
                                           legend_[legend_curves_.size()].contains(in.mouse)))) {
      reaction.tooltip = {
          "peak: " + counted(peak_->held(), "slot") + " held at once, in step " +
              std::to_string(capture::step_of(peak_->tick)) + ", " +
              capture::to_string(capture::phase_of(peak_->tick)),
          "live " + std::to_string(peak_->live) + ", garbage " + std::to_string(peak_->garbage),
          scene.series ? "click to go there" : "click, or P: to the run's peak"};
      if (in.clicked) reaction.cursor = peak_->tick + 1;
      return reaction;
    }
    if (whole_ && whole_line_.contains(in.mouse)) {
      reaction.tooltip = whole_memory_lines(*whole_);
      if (in.clicked) reaction.cursor = whole_->tick + 1;
      return reaction;
    }
    if (!plot_.area.contains(in.mouse)) return reaction;
    const auto step = static_cast<std::int32_t>(std::lround(plot_.x.value(in.mouse.x)));
    const MemoryRow& row = at_step(rows, step);
    if (in.clicked || in.dragging)
      reaction.cursor = std::min(scene.capture->end_tick(),
                                 capture::make_tick(row.step + 1, capture::Phase::kDraft));
    if (rows_seen({&row, 1}, scene).empty()) {
      reaction.tooltip = {"step " + std::to_string(row.step),
                          "the cursor has not seen the end of this step yet"};
      return reaction;
    }
    const auto per_token = static_cast<double>(source.kv_bytes_per_token(*scene.capture));
    reaction.tooltip = {
        "step " + std::to_string(row.step),
        "live " + counted(row.live, "token") +
            (per_token > 0
                 ? " × " + bytes_text(per_token) + " = " + bytes_text(row.live * per_token)
                 : std::string()),
        "garbage " + std::to_string(row.garbage) + ", reserved " + std::to_string(row.reserved),
        "greedy = prompt + generated = " + std::to_string(row.greedy)};
    const auto peak =
        kv_peak_of_step(*scene.capture, row.step, scene.capture->end_tick(), source.whose);
    if (peak && peak->held() > row.live + row.garbage)
      reaction.tooltip.insert(reaction.tooltip.begin() + 2,
                              "at most " + counted(peak->held(), "slot") +
                                  " held within the step, after " +
                                  capture::to_string(capture::phase_of(peak->tick)));
    const bool beams = curves_of(source.memory(*scene.capture))[4];
    if (beams)
      reaction.tooltip.push_back("batch beam = beams × (prompt + generated) = " +
                                 std::to_string(row.batch_beam));
    reaction.tooltip.push_back(copied_text(row, per_token, scene));
    if (released(row, source, *scene.capture))
      reaction.tooltip.push_back(
          row.garbage > 0 ? "the run has ended: its KV is left as garbage, all but the prompt's"
                          : "the run has ended: its KV is released, all but the prompt's");
    else if (beams && row.batch_beam > 0)
      reaction.tooltip.push_back(
          "(live + garbage) / batch beam = " +
          number_text(static_cast<double>(row.live + row.garbage) / row.batch_beam, 3));
    if (row.device_allocated_bytes >= 0)
      reaction.tooltip.push_back(
          "CUDA allocator: " + bytes_text(static_cast<double>(row.device_allocated_bytes)) +
          " in use, " + bytes_text(static_cast<double>(row.device_reserved_bytes)) + " reserved");
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    return {scene.em * 52, scene.em * 27};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "step,live_tokens,garbage_tokens,reserved_tokens,greedy_tokens,batch_beam_tokens,moved_"
           "bytes,kv_bytes_per_token,device_allocated_bytes,device_reserved_bytes,peak_"
           "held_tokens\n";
    const RowSource source = owner_.source(scene);
    for (const MemoryRow& row : rows_seen(rows_of(source, scene), scene))
      out << row.step << ',' << row.live << ',' << row.garbage << ',' << row.reserved << ','
          << row.greedy << ',' << row.batch_beam << ',' << row.moved_bytes << ','
          << source.kv_bytes_per_token(*scene.capture) << ',' << row.device_allocated_bytes << ','
          << row.device_reserved_bytes << ',' << peak_held(row, source, scene) << '\n';
    return out.str();
  }

  std::string whose(const Scene& scene) const override { return owner_.name(scene); }

  std::vector<Curve> curves(const Scene& scene) const override {
    const RowSource source = owner_.source(scene);
    const auto has = curves_of(rows_of(source, scene));
    std::vector<Curve> curves;
    for (std::size_t i = 0; i < kCurves; ++i)
      if (has[i]) curves.push_back({kNames[i], !hidden_[i]});
    return curves;
  }
  void flip_curve(const std::string& name) override {
    for (std::size_t i = 0; i < kCurves; ++i)
      if (name == kNames[i]) hidden_[i] = !hidden_[i];
  }

  // "stacked;whose=draft;hidden=reserved,greedy"
  std::string view_state() const override {
    std::string out = stacked_ ? "stacked" : "lines";
    if (const std::string owner = owner_.state(); !owner.empty()) out += ";" + owner;
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
    owner_.set_state(state);
    hidden_.fill(false);
    const auto list = state.find("hidden=");
    if (list == std::string::npos) return;
    std::istringstream names(state.substr(list + 7));
    for (std::string name; std::getline(names, name, ',');)
      for (std::size_t i = 0; i < kCurves; ++i)
        if (name == kNames[i]) hidden_[i] = true;
  }

 private:
  // The top of the axis is what the curves shown reach.
  double top_of(std::span<const MemoryRow> rows, double per_token) const {
    const auto has = curves_of(rows);
    double high = 1, reserved = 0;
    for (const MemoryRow& row : rows)
      for (std::size_t i = 0; i < kCurves; ++i) {
        if (!has[i] || hidden_[i]) continue;
        double& most = i == 2 || i == 5 ? reserved : high;
        most = std::max(most, curve_value(row, i, per_token, stacked_));
      }
    // Reserved KV grows in jumps. It is shown, but must not flatten the rest.
    return std::max(high, std::min(reserved, high * 1.6)) * 1.06;
  }
  // True if the curve's value differs from that at scene.lit_from. All are new at the first position.
  bool is_lit(const RowSource& source, double value, std::size_t curve, double per_token,
              const Scene& scene) const {
    if (scene.lit_from <= 0) return true;
    Scene before = scene;
    before.cursor = scene.lit_from;
    return curve_value(now_at(source, before, Figures::kStep).row, curve, per_token, stacked_) !=
           value;
  }

  // The most slots held within the row's step, even if nothing changed. Empty without recorded slots.
  static std::string peak_held(const MemoryRow& row, const RowSource& source, const Scene& scene) {
    if (source.levels(*scene.capture).empty()) return "";
    const auto peak =
        kv_peak_of_step(*scene.capture, row.step, scene.capture->end_tick(), source.whose);
    return std::to_string(std::max(peak ? peak->held() : 0, row.live + row.garbage));
  }

  OwnerSwitch owner_;
  bool stacked_ = false;
  std::array<bool, kCurves> hidden_ = {};
  double zoom_ = 1, from_ = 0;
  struct {
    Rect area;
    AxisScale x;
    double first = 0, last = 1;
  } plot_;
  Rect button_, peak_mark_;
  std::optional<KvPeak> peak_;  // of what the cursor has seen, within the range
  std::optional<WholeMemory> whole_;
  Rect whole_line_;  // the sentence about it; empty = not drawn
  std::vector<Rect> legend_;
  std::vector<std::size_t> legend_curves_;
};

}  // namespace

std::unique_ptr<Panel> make_memory_panel() { return std::make_unique<MemoryPanel>(); }

}  // namespace triescope::viz
