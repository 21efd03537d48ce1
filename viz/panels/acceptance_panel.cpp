// Acceptance: where drafts are accepted and where not, by what one chooses.
#include <algorithm>
#include <optional>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/panels/acceptance_rows.h"
#include "viz/panels/button_row.h"
#include "viz/panels/charts.h"
#include "viz/panels/panels.h"
#include "viz/panels/tree_rows.h"
#include "viz/query/step_range.h"

namespace triescope::viz {
namespace {

constexpr float kButtonsEm = 1.9f, kHeadLineEm = 1.7f, kLegendFromEm = 8, kLowEm = 13;

struct Made {
  const capture::Capture* capture = nullptr;
  capture::Tick cursor = -1;
  std::int64_t verdicts = -1;
  StepRange range = {};
  AcceptanceBy by = AcceptanceBy::kDepth;
  Acceptance acceptance = {};
  std::string best_tree = {};  // by place in the tree: which would have been best
};

// "n = 214 drafts of steps 3 to 40"
std::string sample_of(AcceptanceBy by, const Acceptance& acceptance, const Scene& scene) {
  std::int64_t n = 0;
  for (const AcceptanceGroup& group : acceptance.groups)
    n += is_of_causes(by) ? group.accepted : group.n;
  std::string text = "n = ";
  if (is_of_causes(by))
    text += counted(n, is_of_places(by) ? "failed place" : "refused draft");
  else
    text += counted(n, is_of_places(by) ? "place" : "draft");
  if (acceptance.unknown)
    text += ", of " + std::to_string(acceptance.unknown) + " more not recorded";
  if (scene.range) text += " (" + range_text(scene.range) + ")";
  return text;
}

AcceptanceBy next_of(AcceptanceBy by, int steps) {
  return static_cast<AcceptanceBy>((static_cast<int>(by) + steps) % kAcceptanceByCount);
}

class AcceptancePanel final : public Panel {
 public:
  // Without `fixed` it has a switch.
  AcceptancePanel(PanelInfo info, std::optional<AcceptanceBy> fixed)
      : info_(std::move(info)), fixed_(fixed), by_(fixed.value_or(AcceptanceBy::kDepth)) {}

  const PanelInfo& info() const override { return info_; }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    rows_.clear();
    buttons_.clear();
    const Acceptance& acceptance = made(scene);
    if (acceptance.groups.empty() && acceptance.unknown == 0)
      return draw_empty_state(canvas, area, info_.empty, scene);
    const float em = scene.em, pad = em * 0.6f;
    Rect room = area.inset(pad);
    // A low pane has one button, in the line of the title.
    const bool is_low = area.h < em * kLowEm && !fixed_ && scene.has_buttons();
    if (!is_low && !fixed_ && scene.has_buttons()) {
      const float used = draw_buttons(canvas, room, scene);
      room.y += used;
      room.h = std::max(1.0f, room.h - used);
    }
    const TextStyle bold = bold_text(scene, 0.9f), dim = dim_text(scene, 0.82f);
    float taken = 0;
    if (is_low) {
      const Rect button = draw_button(canvas, {room.right(), room.y},
                                      std::string("by ") + to_string(by_) + " ›", scene);
      buttons_.emplace_back(button, next_of(by_, 1));
      taken = button.w + em;
    } else {
      const std::string sample = sample_of(by_, acceptance, scene);
      taken = std::min(room.w * 0.6f, canvas.measure(sample, dim).x) + em;
      text_in(canvas, {room.right() - taken + em, room.y, taken - em, em * 1.4f}, sample, dim,
              Align::kRight);
    }
    text_in(canvas, {room.x, room.y, room.w - taken, em * 1.4f}, acceptance_headline(by_), bold);
    room.y += em * kHeadLineEm;
    room.h = std::max(1.0f, room.h - em * kHeadLineEm);
    const bool has_p = std::any_of(acceptance.groups.begin(), acceptance.groups.end(),
                                   [](const AcceptanceGroup& one) { return one.with_p > 0; });
    if (acceptance.groups.empty())
      return draw_empty_state(canvas, room, "The capture does not have what this takes.", scene);
    if (has_p && room.h > em * kLegendFromEm) {
      const LegendEntry mean{.label = "mean p of the target",
                             .color = scene.theme.mark(capture::NodeState::kCorrected).color,
                             .glyph = "○"};
      const float used = draw_legend(canvas, {room.x, room.y}, room.w, {mean}, scene);
      room.y += used;
      room.h = std::max(1.0f, room.h - used);
    }
    if (!made_.best_tree.empty() && room.h > em * kLegendFromEm) {
      room.h -= em * 1.4f;
      text_in(canvas, {room.x, room.bottom(), room.w, em * 1.4f},
              fit_text(canvas, made_.best_tree, dim_text(scene, 0.82f), room.w),
              dim_text(scene, 0.82f));
    }
    rows_.draw(canvas, room, by_, acceptance, scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture) return reaction;
    if (!fixed_ && (in.next || in.previous))
      by_ = next_of(by_, in.next ? 1 : kAcceptanceByCount - 1);
    if (!in.inside) return reaction;
    for (const auto& [box, by] : buttons_)
      if (in.clicked && box.contains(in.mouse)) {
        by_ = by;
        return reaction;
      }
    rows_.input(in, by_, made(scene), scene, reaction);
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    const float rows = AcceptanceRows::height_em(made(scene).groups.size());
    return {
        scene.em * 44,
        scene.em * std::max(9.0f, kHeadLineEm + (by_ == AcceptanceBy::kTree ? 4.5f : 3) + rows)};
  }

  std::string csv(const Scene& scene) const override { return acceptance_csv(by_, made(scene)); }

  std::string view_state() const override {
    return fixed_ ? "" : std::string("by=") + to_string(by_);
  }
  void set_view_state(const std::string& state) override {
    if (fixed_ || !state.starts_with("by=")) return;
    if (const auto by = acceptance_by_name(state.substr(3))) by_ = *by;
  }

 private:
  // Made once per cursor, range and state of the capture.
  const Acceptance& made(const Scene& scene) const {
    const std::int64_t verdicts = scene.capture ? scene.capture->counts().verdicts : 0;
    if (made_.capture != scene.capture || made_.cursor != scene.cursor ||
        made_.verdicts != verdicts || made_.range != scene.range || made_.by != by_) {
      made_ = {scene.capture, scene.cursor, verdicts, scene.range, by_, {}, {}};
      if (scene.capture)
        made_.acceptance = acceptance_by(*scene.capture, by_, scene.cursor, scene.range);
      if (scene.capture && by_ == AcceptanceBy::kTree)
        made_.best_tree = best_tree_text(tree_yield(*scene.capture, scene.cursor, scene.range));
      drop_empty_causes(by_, made_.acceptance);
    }
    return made_.acceptance;
  }

  // A button for each thing by which it can be; returns the height used.
  float draw_buttons(Canvas& canvas, Rect room, const Scene& scene) {
    ButtonRow row(canvas, room, scene);
    for (int i = 0; i < kAcceptanceByCount; ++i) {
      const auto by = static_cast<AcceptanceBy>(i);
      buttons_.emplace_back(row.button(to_string(by), by == by_), by);
    }
    return row.last_line() + scene.em * kButtonsEm;
  }

  PanelInfo info_;
  std::optional<AcceptanceBy> fixed_;
  AcceptanceBy by_;
  AcceptanceRows rows_;
  std::vector<std::pair<Rect, AcceptanceBy>> buttons_;
  mutable Made made_;
};

constexpr const char* kEmptyAcceptance =
    "No draft has been verified yet: drafting methods show here where theirs are accepted.";

}  // namespace

std::unique_ptr<Panel> make_acceptance_panel() {
  return std::make_unique<AcceptancePanel>(
      PanelInfo{
          .name = "acceptance-by",
          .title = "Acceptance",
          .help =
              "Where drafts are accepted and where not: by their depth, their rank, their place in "
              "the tree, what proposed them, the position in the text, the kind of token, the "
              "target's entropy, or the drafter's q; and why those that failed did (cause, refused). "
              "The line is the 95 % interval, the ring the target's mean p. Only places that the text "
              "got to count.",
          .to_try = "Choose q and compare the bars with the rings: a head that knows what it knows "
                    "has both at its own q.",
          .empty = kEmptyAcceptance,
          .rows = {"node", "verdict"}},
      std::nullopt);
}

std::unique_ptr<Panel> make_acceptance_chart(AcceptanceBy by) {
  return std::make_unique<AcceptancePanel>(
      PanelInfo{.name = std::string("acceptance-by-") + to_string(by),
                .title = acceptance_headline(by),
                .help = "",
                .to_try = "",
                .empty = kEmptyAcceptance},
      by);
}

}  // namespace triescope::viz
