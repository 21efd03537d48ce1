// What if: the run's drafts judged again by another rule or with fewer of them, step by step.
#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/layouts/axis.h"
#include "viz/panels/panels.h"
#include "viz/panels/what_if_knobs.h"
#include "viz/query/rejudge.h"
#include "viz/query/step_proposals.h"
#include "viz/query/step_so_far.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kWhatIfLineEm = 1.45f, kWhatIfAxisEm = 1.5f, kLeastChartEm = 5;

struct MadeWhatIf {
  const capture::Capture* capture = nullptr;
  capture::Tick cursor = -1;
  std::int64_t verdicts = -1;
  std::string knobs = {};
  Rejudged rejudged = {};
  WhatIfKnobs::Most most = {};
};

// Whether a step that the cursor has seen sent drafts.
bool has_drafts(const Scene& scene) {
  return scene.capture && scene.capture->run().kind != capture::RunKind::kBeams &&
         std::ranges::any_of(scene.capture->steps(), [&](const capture::StepRow& step) {
           return step.drafted > 0 && has_finished(step.step, scene.cursor);
         });
}

WhatIfKnobs::Most most_of(const capture::Capture& capture, const Rejudged& rejudged) {
  WhatIfKnobs::Most most;
  const bool ranked = ranks_drafts(capture);
  for (const RejudgedStep& step : rejudged.steps) {
    const StepProposals proposals(capture, step.step, ranked);
    most.drafts = std::max(most.drafts, static_cast<int>(proposals.drafts.size()));
    for (const auto& [node, path] : proposals.paths) {
      most.depth = std::max(most.depth, static_cast<int>(path.size()));
      most.rank = std::max(most.rank, path.back() + 1);
    }
  }
  return most;
}

std::string figure(double tokens, std::int64_t n) {
  return n ? number_text(tokens, 2) : std::string("–");
}

class WhatIfPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "what-if",
        "What if",
        "The recorded drafts judged again, without decoding: by another rule, or with fewer drafts, "
        "levels or ranks. A bar is the tokens that a step would have given, the outline what it "
        "gave. Full bars are those that the run would still have come through; behind the first "
        "step that could not be known, each is judged where it stands.",
        "Take away one level of drafts after the other, and see from which on it costs tokens.",
        "No draft has been verified yet: drafting methods show here what other settings would give.",
        /*rows=*/{"node", "verdict"}};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    knobs_.clear();
    plot_ = {};
    if (!has_drafts(scene) || made(scene).rejudged.steps.empty())
      return draw_empty_state(canvas, area, empty_text_of(scene), scene);
    const float em = scene.em;
    Rect room = area.inset(em * 0.6f);
    const auto cut = [&](float used) {
      room.y += used;
      room.h = std::max(1.0f, room.h - used);
    };
    if (scene.has_buttons() && area.h > em * 8) cut(knobs_.draw(canvas, room, made_.most, scene));
    const Rejudged& all = made_.rejudged;
    text_in(canvas, {room.x, room.y, room.w, em * kWhatIfLineEm}, headline(scene),
            bold_text(scene, 0.9f));
    cut(em * kWhatIfLineEm);
    for (const std::string& line :
         wrap_text(canvas, follow_text(all) + ".", dim_text(scene, 0.82f), room.w)) {
      if (room.h < em * 2.5f) return;
      text_in(canvas, {room.x, room.y, room.w, em * 1.2f}, line, dim_text(scene, 0.82f));
      cut(em * 1.2f);
    }
    const Color color = scene.theme.mark(capture::NodeState::kAccepted).color;
    if (room.h > em * 8)
      cut(draw_legend(canvas, {room.x, room.y + em * 0.2f}, room.w,
                      {{.label = "would have given", .color = color, .glyph = "■"},
                       {.label = "gave", .color = scene.theme.text, .glyph = "□"},
                       {.label = "could not be known",
                        .color = scene.theme.mark(capture::NodeState::kRejected).color,
                        .glyph = "✕"}},
                      scene) +
          em * 0.3f);
    if (room.h >= em * kLeastChartEm) draw_bars(canvas, room, scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!has_drafts(scene)) return reaction;
    if (knobs_.input(in, *scene.capture)) return reaction;
    const RejudgedStep* const step = step_at(in, scene);
    if (!step) return reaction;
    const bool known = step->not_known == NotKnown::kNothing;
    reaction.tooltip = {
        "step " + std::to_string(step->step) + ", after " + counted(step->position, "token"),
        "it gave " + counted(step->recorded_tokens, "token") + ": " +
            std::to_string(step->recorded_accepted) + " of " +
            counted(step->recorded_sent, "draft") + " accepted",
        known ? "it would have given " + counted(step->tokens, "token") + ": " +
                    std::to_string(step->accepted) + " of " + counted(step->sent, "draft") +
                    " accepted"
              : std::string("could not be known: ") + words_of(step->not_known)};
    if (known && !step->same_text) reaction.tooltip.push_back("after it the text differs");
    if (!step->followed)
      reaction.tooltip.push_back("judged on its own: the run was not followed to here");
    reaction.tooltip.push_back("click: go there");
    if (in.clicked)
      reaction.cursor = std::min(scene.capture->end_tick(),
                                 capture::make_tick(step->step + 1, capture::Phase::kDraft));
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    const std::size_t steps = has_drafts(scene) ? made(scene).rejudged.steps.size() : 0;
    return {scene.em * std::clamp(static_cast<float>(steps) * 0.6f + 6, 44.0f, 90.0f),
            scene.em * 20};
  }

  std::string csv(const Scene& scene) const override {
    return rejudged_csv(has_drafts(scene) ? made(scene).rejudged : Rejudged{});
  }
  std::string view_state() const override { return knobs_.state(); }
  void set_view_state(const std::string& state) override { knobs_.set_state(state); }

 private:
  std::string empty_text_of(const Scene& scene) const {
    return scene.capture && scene.capture->run().kind == capture::RunKind::kBeams
               ? "Beams are judged together, not draft by draft: there is nothing to judge again."
               : info().empty;
  }

  // "drafts at most 4: 2.31 tokens a forward (56 steps), recorded 2.52; followed 2.40"
  std::string headline(const Scene& scene) const {
    const Rejudged& all = made_.rejudged;
    std::string text = knobs_.words(*scene.capture) + ": " +
                       figure(all.tokens_per_forward(), all.known) + " tokens a forward (" +
                       counted(all.known, "step");
    const auto steps = static_cast<std::int64_t>(all.steps.size());
    if (all.known < steps) text += " of " + std::to_string(steps);
    return text + "), recorded " + figure(all.recorded_tokens_per_forward(), steps) +
           "; followed " + figure(all.followed_tokens_per_forward(), all.followed);
  }

  // Made once per cursor, knobs and state of the capture.
  const MadeWhatIf& made(const Scene& scene) const {
    const std::int64_t verdicts = scene.capture->counts().verdicts;
    const std::string knobs = knobs_.state();
    if (made_.capture != scene.capture || made_.cursor != scene.cursor ||
        made_.verdicts != verdicts || made_.knobs != knobs) {
      made_ = {scene.capture, scene.cursor, verdicts, knobs, {}, {}};
      made_.rejudged = rejudge(*scene.capture, knobs_.settings(*scene.capture), scene.cursor);
      made_.most = most_of(*scene.capture, made_.rejudged);
    }
    return made_;
  }

  void draw_bars(Canvas& canvas, Rect room, const Scene& scene) {
    const float em = scene.em;
    const std::vector<RejudgedStep>& steps = made_.rejudged.steps;
    int most = 1;
    for (const RejudgedStep& step : steps)
      most = std::max({most, step.tokens, step.recorded_tokens});
    const TextStyle small = dim_text(scene, 0.78f);
    plot_ = {room.x + em * 1.8f, room.y + em * 0.4f, room.w - em * 2.2f,
             room.h - em * (kWhatIfAxisEm + 0.6f)};
    const AxisScale y{0, static_cast<double>(most) + 0.2, plot_.bottom(), plot_.y};
    for (const double tick : nice_integer_ticks(0, most, 4)) {
      canvas.line({plot_.x, y.px(tick)}, {plot_.right(), y.px(tick)}, scene.theme.grid, 1);
      text_in(canvas, {room.x, y.px(tick) - em * 0.6f, em * 1.4f, em * 1.2f}, number_text(tick, 0),
              small, Align::kRight);
    }
    const float pitch = std::min(plot_.w / static_cast<float>(steps.size()), em * 2.2f);
    pitch_ = pitch;
    const float gap = pitch > em * 0.5f ? pitch * 0.16f : 0;
    const Color color = scene.theme.mark(capture::NodeState::kAccepted).color,
                unknown = scene.theme.mark(capture::NodeState::kRejected).color;
    // Every stride-th step has its number below it.
    const float label_width =
        canvas.measure(std::to_string(steps.back().step), small).x + em * 0.8f;
    const auto stride = static_cast<std::size_t>(std::max(1.0f, std::ceil(label_width / pitch)));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const RejudgedStep& step = steps[i];
      const float x = plot_.x + pitch * static_cast<float>(i) + gap,
                  width = std::max(1.0f, pitch - 2 * gap);
      if (step.not_known == NotKnown::kNothing)
        canvas.fill_rect({x, y.px(step.tokens), width, plot_.bottom() - y.px(step.tokens)},
                         color.with_alpha(step.followed ? 0.85f : 0.4f));
      else if (width > em * 0.5f)
        draw_glyph(canvas, "✕", {x + width / 2, plot_.bottom() - em * 0.6f}, em * 0.7f, unknown);
      else
        canvas.fill_rect({x, plot_.bottom() - em * 0.25f, width, em * 0.25f}, unknown);
      const float top = y.px(step.recorded_tokens);
      if (gap > 0)
        canvas.stroke_rect({x, top, width, plot_.bottom() - top}, scene.theme.text, 1);
      else
        canvas.line({x, top}, {x + width, top}, scene.theme.text, 1);
      const std::string label = std::to_string(step.step);
      const float half = canvas.measure(label, small).x / 2, middle = x + width / 2;
      if (i % stride == 0 && middle + half < room.right())
        text_in(canvas, {middle - half, plot_.bottom() + em * 0.1f, 2 * half + 1, em * 1.2f}, label,
                small);
    }
    canvas.line({plot_.x, plot_.bottom()}, {plot_.right(), plot_.bottom()}, scene.theme.border, 1);
  }

  const RejudgedStep* step_at(const Input& in, const Scene& scene) const {
    if (!in.inside || plot_.w <= 0 || pitch_ <= 0 || !plot_.contains(in.mouse)) return nullptr;
    const auto at = static_cast<std::size_t>((in.mouse.x - plot_.x) / pitch_);
    const auto& steps = made(scene).rejudged.steps;
    return at < steps.size() ? &steps[at] : nullptr;
  }

  WhatIfKnobs knobs_;
  mutable MadeWhatIf made_;
  Rect plot_;
  float pitch_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_what_if_panel() { return std::make_unique<WhatIfPanel>(); }

}  // namespace triescope::viz
