#include "viz/panels/fault_head.h"

#include <algorithm>

#include "core/base/counted.h"

namespace triescope::viz {

std::string fault_head_text(std::size_t count, const std::string& noun,
                            std::span<const std::int32_t> steps) {
  const std::string where =
      (steps.size() == 1 ? "in step " + std::to_string(steps.front())
                         : "in " + counted(steps.size(), "step") + ", first at step " +
                               std::to_string(steps.front()));
  if (count == 0) return "as the tree asks in this step; not so " + where;
  return counted(count, noun) + " not as the tree asks; such " + where;
}

float FaultHead::draw(Canvas& canvas, Rect area, std::size_t count, const std::string& noun,
                      std::span<const std::int32_t> steps, const Scene& scene) {
  box_ = {};
  if (steps.empty()) return 0;
  const float em = scene.em, row = em * 1.35f;
  const TextStyle style = count > 0 ? ui_text(scene, 0.86f) : dim_text(scene, 0.86f);
  const float mark = em * 1.25f;
  draw_glyph(canvas, count > 0 ? "▲" : "△", {area.x + em * 0.45f, area.y + row / 2}, em * 0.75f,
             scene.theme.fault);
  const std::string text =
      fit_text(canvas, fault_head_text(count, noun, steps), style, area.w - mark);
  text_in(canvas, {area.x + mark, area.y, area.w - mark, row}, text, style);
  box_ = {area.x, area.y, std::min(area.w, mark + canvas.measure(text, style).x), row};
  canvas.term(box_, "not as the tree asks");
  return row + em * 0.15f;
}

bool FaultHead::input(const Input& in, std::span<const std::int32_t> steps, const Scene& scene,
                      Reaction& reaction) const {
  if (!in.inside || steps.empty() || !box_.contains(in.mouse)) return false;
  const auto next = std::ranges::upper_bound(steps, scene.shown_step());
  const std::int32_t to = next == steps.end() ? steps.front() : *next;
  reaction.tooltip = {"click: on to step " + std::to_string(to) + ", the next such step"};
  if (in.clicked)
    reaction.cursor =
        std::min(capture::make_tick(to + 1, capture::Phase::kDraft), scene.capture->end_tick());
  return true;
}

LegendEntry recorded_fault_entry(const std::string& label, const Scene& scene) {
  return {label, scene.theme.fault, "▲"};
}
LegendEntry missing_fault_entry(const std::string& label, const Scene& scene) {
  return {label, scene.theme.fault, "△"};
}

void add_node_fault_entries(std::vector<LegendEntry>& legend, bool is_recorded, bool is_missing,
                            const Scene& scene) {
  if (is_recorded) legend.push_back(recorded_fault_entry("not as the tree asks", scene));
  if (is_missing) legend.push_back(missing_fault_entry("asked for, not seen", scene));
}

}  // namespace triescope::viz
