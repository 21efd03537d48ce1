#include "viz/panels/memory_head.h"

#include <algorithm>

#include "viz/text/number_text.h"

namespace triescope::viz::memory_curves {
namespace {

constexpr int kLegendRows = 4;
constexpr float kMostLegendEm = 1.35f * kLegendRows;
constexpr float kLegendTopEm = 0.2f, kLegendGapEm = 0.15f, kSentenceEm = 1.35f;

float moment_width(Canvas& canvas, const MemoryHead& head, Rect area, const Scene& scene) {
  return std::min(canvas.measure(head.moment, dim_text(scene)).x, area.w * 0.4f);
}

// The left edge of the legend, behind the moment.
float legend_x(Canvas& canvas, const MemoryHead& head, Rect area, const Scene& scene) {
  return area.x + scene.em * 1.4f + moment_width(canvas, head, area, scene);
}

// Small panels need the room of the sentences for their curves.
bool has_sentences(Rect area, const Scene& scene) {
  return area.h > scene.em * 13 && area.w > scene.em * 24;
}

}  // namespace

MemoryHead memory_head(const RowSource& source, std::span<const MemoryRow> rows,
                       const std::array<bool, kCurves>& hidden, const Scene& scene) {
  const capture::Capture& capture = *scene.capture;
  const auto per_token = static_cast<double>(source.kv_bytes_per_token(capture));
  const std::int32_t shown = scene.shown_step();
  const Figures figures = scene.export_mode && !scene.series      ? Figures::kWholeRun
                          : scene.range && !scene.in_range(shown) ? Figures::kStepOutsideRange
                          : released(at_step(source.memory(capture), shown), source, capture) &&
                                  scene.cursor > capture::make_tick(shown, capture::Phase::kCommit)
                              ? Figures::kEnd
                              : Figures::kStep;
  MemoryHead head;
  // The figures are the cursor's, as in every panel, even if it stands outside the range.
  auto [now, when] = now_at(source, scene, figures);
  if (figures == Figures::kWholeRun && released(rows.back(), source, capture))
    when += ", " + end_text(rows.back());
  head.now = now;
  head.moment = when + ":";
  head.peak = kv_peak(capture, scene.cursor, source.whose, scene.range);
  head.has = curves_of(rows);
  for (std::size_t i = 0; i < kCurves; ++i) {
    if (!head.has[i]) continue;
    const std::string value =
        i == 5 ? bytes_text(static_cast<double>(now.device_allocated_bytes))
               : std::to_string(static_cast<long long>(value_of(now, i, per_token)));
    head.entries.push_back({std::string(kNames[i]) + " " + value, color_of(i, scene), "",
                            line_of(i), hidden[i], kNames[i]});
    head.curves.push_back(i);
  }
  if (head.peak)
    head.entries.push_back({"peak " + std::to_string(head.peak->held()), color_of(0, scene), "▼",
                            LineStyle::kSolid, false, "peak"});
  head.all = all_caches(rows, source, per_token, scene);
  if (!head.all.steps.empty())
    head.entries.push_back({"all caches " + bytes_text(head.all.now * per_token),
                            all_caches_color(scene), "", LineStyle::kSolid, false, "all caches"});
  // The legend of a policy that moves survivors together has the number moved in the step shown, as in the KV
  // panel. A steady picture has the entry from the beginning.
  if (const std::int64_t moved = source.moved_in(capture, shown, scene.cursor);
      figures != Figures::kWholeRun && !source.gathers(capture) &&
      (moved > 0 || (scene.steady && capture.run().kv_policy == "compact")))
    head.entries.push_back({"moved " + std::to_string(moved),
                            scene.theme.mark(capture::NodeState::kBonus).color, "→"});
  if (scene.steady) head.entries.push_back(lit_entry(scene));
  const TogetherKv together = together_kv(scene);
  head.lines = {ratio_text(before_release(rows_seen(rows, scene), source, capture), now, head.has,
                           per_token, figures, head.peak ? head.peak->held() : 0),
                together_text(scene, together)};
  head.whole = whole_memory(scene, together);
  head.lines.push_back(head.whole ? whole_memory_text(*head.whole) : weights_text(scene));
  std::erase(head.lines, "");
  return head;
}

float head_height(Canvas& canvas, const MemoryHead& head, Rect area, float right,
                  const Scene& scene) {
  const float em = scene.em, left = legend_x(canvas, head, area, scene);
  const auto sentences = has_sentences(area, scene) ? static_cast<float>(head.lines.size()) : 0.0f;
  const float legend = legend_height(canvas, right - left, head.entries, scene);
  return std::min(legend, em * kMostLegendEm) +
         em * (kLegendTopEm + kLegendGapEm + kSentenceEm * sentences);
}

Rect draw_memory_head(Canvas& canvas, const MemoryHead& head, Rect area, float right,
                      std::vector<Rect>& boxes, const Scene& scene) {
  const float em = scene.em, pad = em * 0.6f, left = legend_x(canvas, head, area, scene);
  float top = area.y + em * kLegendTopEm;
  text_in(canvas, {area.x + pad, top, moment_width(canvas, head, area, scene), em * 1.35f},
          head.moment, dim_text(scene));
  top += draw_legend(canvas, {left, top}, right - left, head.entries, scene, &boxes, kLegendRows) +
         em * kLegendGapEm;
  if (!has_sentences(area, scene)) return {};
  Rect last;
  for (const std::string& line : head.lines) {
    last = {area.x + pad, top, area.w - 2 * pad, em * 1.2f};
    text_in(canvas, last, line, ui_text(scene, 0.84f));
    top += em * kSentenceEm;
  }
  return head.whole ? last : Rect{};
}

}  // namespace triescope::viz::memory_curves
