// Doctor: what is wrong in the capture, gravest first. A click goes to where a finding first is.
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "core/base/counted.h"
#include "core/doctor/doctor.h"
#include "core/doctor/report.h"
#include "core/doctor/watch.h"
#include "viz/draw/drawing.h"
#include "viz/panels/panels.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kDoctorRowEm = 1.3f;
constexpr float kDoctorWidthEm = 56;

struct SureMark {
  const char* glyph;
  capture::NodeState like;  // the state whose color the mark has
};

SureMark sure_mark(doctor::Sure sure) {
  switch (sure) {
    case doctor::Sure::kCertain:
      return {"✕", capture::NodeState::kRejected};
    case doctor::Sure::kLikely:
      return {"◆", capture::NodeState::kBonus};
    case doctor::Sure::kHint:
      return {"○", capture::NodeState::kPruned};
  }
  return {"○", capture::NodeState::kPruned};
}

// "step 3, node 5: 5 times in 5 steps, first at step 3".
std::string where_text(const doctor::FindingGroup& group) {
  std::string text = doctor::place_text(group.first);
  if (text.empty()) text = "the whole run";
  const std::string times = doctor::times_text(group);
  return text + (times.empty() ? "" : ": ") + times;
}

class DoctorPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "doctor", "Doctor",
        "What is wrong in this run, gravest first: ✕ certain, ◆ likely, ○ a hint. It is about the whole "
        "run, wherever the cursor stands. Click a finding to go to the step where it first is.",
        "Click the first finding, and look at its row in the mask: causes stand before what follows "
        "from them.",
        "Nothing to check yet: start a run or open a capture."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    boxes_.clear();
    overflow_ = 0;
    if (!scene.capture || scene.capture->last_step() < 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    const float height = lay_out(canvas, area, scene, 0, false);
    overflow_ = std::max(0.0f, height - area.h);
    scroll_ = std::min(scroll_, overflow_);
    lay_out(canvas, area, scene, scene.export_mode ? 0 : scroll_, true);
  }

  Reaction input(const Input& in, Rect area, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture || scene.capture->last_step() < 0) return reaction;
    if (in.inside && in.wheel != 0)
      scroll_ = std::clamp(scroll_ - in.wheel * scene.em * 3, 0.0f, overflow_);
    if (in.dragging) scroll_ = std::clamp(scroll_ - in.drag_delta.y, 0.0f, overflow_);
    const auto& opinion = opinion_of(scene);
    reaction.wants_redraw = !opinion.is_current || opinion.is_working;
    if (!in.inside || !area.contains(in.mouse)) return reaction;
    reaction.hover = -1;
    const auto& groups = opinion.diagnosis.groups;
    for (const auto& [box, index] : boxes_) {
      if (!box.contains(in.mouse) || index >= groups.size()) continue;
      const doctor::Finding& first = groups[index].first;
      reaction.hover = first.node;
      reaction.tooltip = {std::string("Rule: ") + doctor::rule_of(first.code)};
      if (!in.clicked) continue;
      // The cursor goes behind the step, where its rows, its decisions and its commit are all
      // visible.
      if (first.step >= 0)
        reaction.cursor = std::min(capture::make_tick(first.step + 1, capture::Phase::kDraft),
                                   scene.capture->end_tick());
      if (first.node != -1 && first.node != scene.focus.locked) reaction.lock = first.node;
    }
    return reaction;
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    const float width = scene.em * kDoctorWidthEm;
    if (!scene.capture || scene.capture->last_step() < 0) return {width, scene.em * 6};
    return {width, lay_out(canvas, {0, 0, width, 1e6f}, scene, 0, false) + scene.em};
  }

  // One row a fault.
  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "code,sure,step,node,row,slot,whose,count,steps,kind,text,open\n";
    if (!scene.capture) return out.str();
    const auto number = [&](std::int32_t value) {
      if (value != -1) out << value;
      out << ',';
    };
    for (const doctor::FindingGroup& group : watch_.complete(*scene.capture).diagnosis.groups) {
      const doctor::Finding& first = group.first;
      out << to_string(first.code) << ',' << to_string(first.sure) << ',';
      for (const std::int32_t value : {first.step, first.node, first.row, first.slot})
        number(value);
      out << to_string(first.whose) << ',' << group.count << ',' << group.steps << ','
          << csv_field(first.kind) << ',' << csv_field(first.text) << ','
          << doctor::place_link(first) << '\n';
    }
    return out.str();
  }

 private:
  // Lays out the whole list from `scroll` px on and returns its height. `draw` also draws the part
  // in `area`, and notes where it stands.
  float lay_out(Canvas& canvas, Rect area, const Scene& scene, float scroll, bool draw) const {
    const float em = scene.em, pad = em * 0.6f, row = em * kDoctorRowEm;
    const doctor::DoctorWatch::Opinion& opinion = opinion_of(scene);
    const doctor::Diagnosis& diagnosis = opinion.diagnosis;
    const float left = area.x + pad, width = std::max(em * 3, area.w - 2 * pad);
    float y = area.y + em * 0.35f - scroll;
    const float start = y;
    const auto lines = [&](const std::string& text, const TextStyle& style, float indent) {
      for (const std::string& line :
           wrap_text(canvas, text, style, std::max(em * 3, width - indent))) {
        if (draw && y + row > area.y && y < area.bottom())
          text_in(canvas, {left + indent, y, std::max(em, width - indent), row}, line, style);
        y += row;
      }
    };
    lines(head_text(opinion, *scene.capture), bold_text(scene, 0.95f), 0);
    if (opinion.is_working) {
      const Rect bar{left, y + em * 0.1f, std::min(width, em * 16), em * 0.3f};
      if (draw) {
        canvas.fill_rect(bar, scene.theme.grid, em * 0.15f);
        canvas.fill_rect({bar.x, bar.y, bar.w * static_cast<float>(opinion.done), bar.h},
                         scene.theme.accent, em * 0.15f);
      }
      y += em * 0.6f;
    }
    if (diagnosis.groups.empty() && opinion.last_step >= 0)
      lines("Checked: " + doctor::checked_families() + ".", ui_text(scene, 0.9f), 0);
    const float indent = em * 1.4f;
    for (std::size_t i = 0; i < diagnosis.groups.size(); ++i) {
      const doctor::FindingGroup& group = diagnosis.groups[i];
      const doctor::Finding& first = group.first;
      y += em * 0.45f;
      const float top = y;
      const SureMark mark = sure_mark(first.sure);
      const Color color = scene.theme.legible(scene.theme.mark(mark.like).color);
      if (draw && y + row > area.y && y < area.bottom())
        draw_glyph(canvas, mark.glyph, {left + em * 0.5f, y + row / 2}, em * 0.75f, color);
      lines(std::string(to_string(first.code)) + ": " + first.kind + " (" + to_string(first.sure) +
                ")",
            bold_text(scene, 0.92f), indent);
      lines(doctor::sentence_text(first), ui_text(scene, 0.9f), indent);
      lines(where_text(group), dim_text(scene, 0.84f), indent);
      if (draw) boxes_.push_back({{area.x, top, area.w, y - top}, i});
    }
    if (!diagnosis.not_checked.empty()) y += em * 0.45f;
    for (const std::string& family : diagnosis.not_checked)
      lines("Not checked: " + family, dim_text(scene, 0.84f), 0);
    return y - start + em * 0.7f;
  }

  // A picture is about all that there is; the window waits for nothing.
  const doctor::DoctorWatch::Opinion& opinion_of(const Scene& scene) const {
    return scene.export_mode ? watch_.complete(*scene.capture) : watch_.look(*scene.capture);
  }

  static std::string head_text(const doctor::DoctorWatch::Opinion& opinion,
                               const capture::Capture& capture) {
    if (!opinion.problem.empty()) return "This run cannot be checked: " + opinion.problem;
    if (opinion.last_step < 0) return "The run is being checked.";
    const std::size_t count = opinion.diagnosis.groups.size();
    std::string text = count == 0 ? "Nothing found" : counted(count, "finding");
    if (count > 1) text += ", gravest first";
    if (capture.status() == capture::RunStatus::kRunning || !opinion.is_current)
      text += ", up to step " + std::to_string(opinion.last_step);
    return text + ".";
  }

  mutable doctor::DoctorWatch watch_;
  struct Box {
    Rect area;
    std::size_t group;
  };
  mutable std::vector<Box> boxes_;
  float scroll_ = 0, overflow_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_doctor_panel() { return std::make_unique<DoctorPanel>(); }

}  // namespace triescope::viz
