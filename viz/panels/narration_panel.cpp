// Narration: what the phase before the cursor did, in sentences whose values are links.
#include <algorithm>
#include <set>
#include <sstream>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"
#include "viz/panels/narration_lines.h"
#include "viz/panels/panels.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kNarrationHeadEm = 1.9f;

Narration told(const Scene& scene) {
  return narrate(*scene.capture, scene.cursor, Sentences::standard());
}

// "next: commit"; "" at the end of a run that is over.
std::string next_of(const Scene& scene) {
  const bool over = scene.capture->status() != capture::RunStatus::kRunning &&
                    scene.cursor >= scene.capture->end_tick();
  return over ? "" : std::string("next: ") + capture::to_string(capture::phase_of(scene.cursor));
}

std::vector<std::string> tooltip_of(const Part& part, const Scene& scene) {
  switch (part.target.kind) {
    case Target::Kind::kNode:
      return node_tooltip(scene, static_cast<std::int32_t>(part.target.id));
    case Target::Kind::kSlot: {
      std::vector<std::string> lines = {"slot " + std::to_string(part.target.id)};
      if (part.target.node != -1) lines.push_back(node_summary(scene, part.target.node));
      return lines;
    }
    case Target::Kind::kStep:
      return {"step " + std::to_string(capture::step_of(part.target.id)) + ": click to go there"};
    case Target::Kind::kPanel:
      return {"click to see it in the panel " + part.target.panel};
    case Target::Kind::kNone:
      break;
  }
  return {};
}

class NarrationPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "narration",
        "Narration",
        "What the phase just finished did, in words. Everything underlined is a link: a token or "
        "its number locks the node, a slot the node in it, a count opens the panel it is from.",
        "Go through a step phase by phase (F11), and say before each what it will do.",
        "Nothing to tell yet: start a run or open a capture.",
        /*rows=*/{"phase"}};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    shown_.spans.clear();
    if (!scene.capture) return draw_empty_state(canvas, area, info().empty, scene);
    try {
      if (!is_current(scene)) {
        hovered_ = nullptr;
        narration_ = told(scene);
      }
    } catch (const Error& error) {
      // The user's own sentences have a mistake.
      return draw_empty_state(canvas, area, error.what(), scene);
    }
    remember(scene);
    const float head = scene.em * kNarrationHeadEm;
    text_ = {area.x, area.y + head, area.w, std::max(0.0f, area.h - head)};
    shown_ = lay_out_narration(canvas, area.w, scene, narration_);
    const float longer = std::max(0.0f, shown_.height - text_.h);
    overflow_ = scene.export_mode ? 0 : longer;
    scroll_ = std::min(scroll_, overflow_);
    cut_ = scene.export_mode && longer > 0;
    draw_head(canvas, area, scene);
    canvas.push_clip(text_);
    for (const NarrationSpan& span : shown_.spans) draw_span(canvas, span, scene);
    canvas.pop_clip();
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (in.inside && in.wheel != 0)
      scroll_ = std::clamp(scroll_ - in.wheel * scene.em * 3, 0.0f, overflow_);
    if (in.dragging) scroll_ = std::clamp(scroll_ - in.drag_delta.y, 0.0f, overflow_);
    hovered_ = nullptr;
    if (!in.inside || !scene.capture || !is_current(scene)) return reaction;
    reaction.hover = -1;
    for (const NarrationSpan& span : shown_.spans) {
      const Part& part = part_of(span);
      if (part.target.kind == Target::Kind::kNone || !text_.contains(in.mouse) ||
          !is_whole(placed(span)) || !placed(span).contains(in.mouse))
        continue;
      hovered_ = &part;
      reaction.hover = part.target.node;
      reaction.tooltip = tooltip_of(part, scene);
      if (in.clicked) follow(part.target, reaction);
      break;
    }
    return reaction;
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    const float width = scene.em * 46;
    if (!scene.capture) return {width, scene.em * 6};
    return {width, scene.em * kNarrationHeadEm +
                       lay_out_narration(canvas, width, scene, told(scene)).height};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "step,phase,sentence,text,value,number,target\n";
    if (!scene.capture) return out.str();
    const Narration narration = told(scene);
    for (std::size_t i = 0; i < narration.sentences.size(); ++i)
      for (const Part& part : narration.sentences[i].parts)
        out << (narration.step < 0 ? "" : std::to_string(narration.step)) << ','
            << (narration.step < 0 ? "" : capture::to_string(narration.phase)) << ',' << i + 1
            << ',' << csv_field(part.text) << ',' << part.fact << ',' << csv_number(part.number)
            << ',' << to_string(part.target) << '\n';
    return out.str();
  }

 private:
  const Part& part_of(const NarrationSpan& span) const {
    return narration_.sentences[span.sentence].parts[span.part];
  }
  Rect placed(const NarrationSpan& span) const {
    return {text_.x + span.box.x, text_.y + span.box.y - scroll_, span.box.w, span.box.h};
  }

  // Only whole lines are drawn, since half a line cannot be read. The first line is always drawn.
  bool is_whole(Rect line) const {
    const float slack = line.h * 0.15f;  // px; letters do not reach the line's edges
    return (line.y >= text_.y - slack && line.bottom() <= text_.bottom() + slack) ||
           (line.h > text_.h && line.bottom() > text_.y && line.y < text_.bottom());
  }
  std::size_t lines_cut() const {
    std::set<float> lines;
    for (const NarrationSpan& span : shown_.spans)
      if (!is_whole(placed(span))) lines.insert(span.box.y);
    return lines.size();
  }

  static void follow(const Target& target, Reaction& reaction) {
    switch (target.kind) {
      case Target::Kind::kNode:
      case Target::Kind::kSlot:
        if (target.node != -1) reaction.lock = target.node;
        break;
      case Target::Kind::kStep:
        reaction.cursor = target.id + 1;
        break;
      case Target::Kind::kPanel:
        reaction.panel = target.panel;
        break;
      case Target::Kind::kNone:
        break;
    }
  }

  void draw_head(Canvas& canvas, Rect area, const Scene& scene) const {
    const float em = scene.em, pad = em * 0.7f;
    const Rect box{area.x + pad, area.y + em * 0.4f, area.w - 2 * pad, em * 1.4f};
    const std::string head = heading_of(narration_);
    std::string next = next_of(scene);
    if (const std::size_t lines = cut_ ? lines_cut() : 0; lines > 0)
      next += (next.empty() ? "+ " : "  ·  + ") + counted(lines, "line");
    if (overflow_ > scroll_ + 1) next += next.empty() ? "scroll for more" : "  ·  scroll for more";
    const TextStyle style = bold_text(scene), dim = dim_text(scene);
    text_in(canvas, box, head, style);
    const float room = box.w - canvas.measure(head, style).x - em;
    if (canvas.measure(next, dim).x < room) text_in(canvas, box, next, dim, Align::kRight);
  }

  void draw_span(Canvas& canvas, const NarrationSpan& span, const Scene& scene) const {
    const Rect box = placed(span);
    if (!is_whole(box)) return;
    const float em = scene.em;
    const Part& part = part_of(span);
    const bool is_link = part.target.kind != Target::Kind::kNone;
    if (is_link && part.target.node != -1 && part.target.node == scene.focus.node())
      canvas.fill_rect(
          {box.x - em * 0.1f, box.y + em * 0.08f, box.w + em * 0.2f, box.h - em * 0.16f},
          scene.theme.focus.with_alpha(0.18f), em * 0.2f);
    const float height = canvas.measure(span.text, span.style).y;
    canvas.text({box.x, box.y + (box.h - height) / 2}, span.text, span.style);
    if (!is_link) return;
    const float y = box.y + box.h / 2 + height * 0.48f;
    const bool over = hovered_ == &part;
    canvas.line({box.x, y}, {box.right(), y},
                over ? scene.theme.accent : scene.theme.text_dim.with_alpha(0.6f),
                over ? em * 0.1f : em * 0.07f, over ? LineStyle::kSolid : LineStyle::kDotted);
  }

  // True if narration_ still holds: at one cursor only the run's end and status can change it.
  bool is_current(const Scene& scene) const {
    return capture_ == scene.capture && cursor_ == scene.cursor &&
           end_ == scene.capture->end_tick() && status_ == scene.capture->status();
  }
  void remember(const Scene& scene) {
    capture_ = scene.capture;
    cursor_ = scene.cursor;
    end_ = scene.capture->end_tick();
    status_ = scene.capture->status();
  }

  Narration narration_;
  const capture::Capture* capture_ = nullptr;
  capture::Tick cursor_ = -1, end_ = -1;
  capture::RunStatus status_ = capture::RunStatus::kRunning;

  NarrationLines shown_;
  Rect text_;  // where the lines were drawn last
  float scroll_ = 0, overflow_ = 0;
  bool cut_ = false;               // a figure is too small for all lines
  const Part* hovered_ = nullptr;  // of narration_
};

}  // namespace

std::unique_ptr<Panel> make_narration_panel() { return std::make_unique<NarrationPanel>(); }

}  // namespace triescope::viz
