// Summary: the figures of the run that is shown, as far as the cursor has come or of the whole run.
#include <algorithm>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/panels/button_row.h"
#include "viz/panels/panels.h"
#include "viz/panels/summary_columns.h"

namespace triescope::viz {
namespace {

constexpr float kSummaryHeadEm = 1.9f;
constexpr std::size_t kExportColumns = 3;
constexpr float kExportWidthEm = 72;

// "up to step 12 of 40" would tell how long the run is; the cursor has not seen that.
std::string moment_of(const Scene& scene, bool whole) {
  std::string text;
  if (scene.range) text = range_text(scene.range) + ", ";
  if (whole) return text + "the whole run";
  const std::int32_t step = scene.shown_step();
  return step < 0 ? "before the first step" : text + "up to step " + std::to_string(step);
}

class SummaryPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "summary", "Summary",
        "The run in figures, as the table of runs and `decode --json` have them: what came of it, how "
        "many drafts were accepted at each depth, what took its time, what it held in memory, and its "
        "settings. As far as the cursor has come, or of the whole run.",
        "Choose *whole run* and see by the bars which phase takes most of the time.",
        "No figures yet: start a run or open a capture."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    columns_.clear();
    buttons_[0] = buttons_[1] = {};
    if (!scene.capture) return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em, pad = em * 0.6f;
    const Rect head{area.x + pad, area.y + em * 0.4f, std::max(1.0f, area.w - 2 * pad), em * 1.4f};
    float x = head.x;
    if (scene.has_buttons()) {
      ButtonRow row(canvas, head, scene);
      buttons_[0] = row.button("at the cursor", !whole_);
      buttons_[1] = row.button("whole run", whole_);
      x = buttons_[1].right() + em;
    }
    if (x < head.right() && (!scene.has_buttons() || buttons_[0].y == buttons_[1].y))
      text_in(canvas, {x, head.y, head.right() - x, head.h},
              fit_text(canvas, moment_of(scene, whole_), dim_text(scene, 0.84f), head.right() - x),
              dim_text(scene, 0.84f), scene.has_buttons() ? Align::kRight : Align::kLeft);
    const float top = std::max(head.bottom(), buttons_[1].bottom()) + em * (kSummaryHeadEm - 1.4f);
    columns_.draw(canvas, {area.x, top, area.w, std::max(1.0f, area.bottom() - top)}, made(scene),
                  scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture) return reaction;
    if (in.fold) whole_ = !whole_;
    for (const int i : {0, 1})
      if (in.inside && buttons_[i].contains(in.mouse)) {
        reaction.tooltip = {i ? "every step that is recorded" : "what the cursor has seen"};
        if (in.clicked) whole_ = i == 1;
        return reaction;
      }
    columns_.input(in, scene, reaction);
    return reaction;
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    const float em = scene.em;
    if (!scene.capture) return {em * kExportWidthEm, em * 10};
    return {em * kExportWidthEm,
            em * (kSummaryHeadEm + 1) + SummaryColumns::height(canvas, em * kExportWidthEm,
                                                               kExportColumns, made(scene), scene)};
  }

  std::string csv(const Scene& scene) const override { return run_summary_csv(seen(scene)); }

  std::string view_state() const override { return whole_ ? "of=run" : "of=cursor"; }
  void set_view_state(const std::string& state) override {
    if (state == "of=run" || state == "of=cursor") whole_ = state == "of=run";
  }

 private:
  Scene seen(const Scene& scene) const {
    Scene all = scene;
    if (whole_ && scene.capture) all.cursor = scene.capture->end_tick();
    return all;
  }

  // Made once per cursor, range and state of the capture.
  const std::vector<SummarySection>& made(const Scene& scene) const {
    const Scene of = seen(scene);
    const auto rows =
        static_cast<std::int64_t>(of.capture->phases().size()) + of.capture->counts().sequences;
    const Key key = {of.capture, of.cursor, rows, of.range, of.capture->status()};
    if (key != made_for_) {
      sections_ = run_summary(of);
      made_for_ = key;
    }
    return sections_;
  }

  struct Key {
    const capture::Capture* capture = nullptr;
    capture::Tick cursor = -1;
    std::int64_t rows = -1;
    StepRange range = {};
    capture::RunStatus status = capture::RunStatus::kRunning;
    bool operator==(const Key&) const = default;
  };

  bool whole_ = false;
  Rect buttons_[2];
  SummaryColumns columns_;
  mutable Key made_for_;
  mutable std::vector<SummarySection> sections_;
};

}  // namespace

std::unique_ptr<Panel> make_summary_panel() { return std::make_unique<SummaryPanel>(); }

}  // namespace triescope::viz
