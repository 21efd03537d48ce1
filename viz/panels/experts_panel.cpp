// Experts: which experts of a mixture this step's rows go through, and how many different ones the steps
// read beside what one row reads.
#include <algorithm>

#include "viz/draw/drawing.h"
#include "viz/panels/expert_chart.h"
#include "viz/panels/expert_grid.h"
#include "viz/panels/panel_rows.h"
#include "viz/panels/panels.h"
#include "viz/query/expert_use.h"

namespace triescope::viz {
namespace {

constexpr float kExpertChartEm = 9, kLeastWithExpertsEm = 15, kExpertKeyEm = 1.6f;
constexpr float kEnoughGridEm = 7, kChartBesideEm = 22, kChartKeyEm = 30;

class ExpertsPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        .name = "experts",
        .title = "Experts",
        .help =
            "Which experts of a mixture this step's rows go through: layers down, experts across, each "
            "cell divided among the rows. Below, step by step, how many different experts a layer reads "
            "(bars) beside what one row reads (dashed) and what rows that choose freely would read "
            "(dotted), and on the right the bytes of weights that makes. An expert that no row goes "
            "through is not read.",
        .to_try =
            "Compare a step of many drafts with one of few: every draft that chooses other "
            "experts makes the forward cost more.",
        .empty = "No forward yet: step once more (F10).",
        .rows = {"expert"}};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    grid_.clear();
    chart_.clear();
    if (!scene.capture || scene.shown_step() < 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    const auto& steps = made(scene);
    const bool has_rows = grid_.update(scene);
    if (!has_rows && steps.empty()) return draw_empty_state(canvas, area, why_empty(scene), scene);
    const float em = scene.em, pad = em * 0.6f;
    Rect room = area.inset(pad);
    const ExpertStep now = expert_step(*scene.capture, scene.shown_step(), scene.cursor);
    const float line = em * 1.4f;
    if (now.layers > 0) {
      std::string text = "step " + std::to_string(now.step);
      for (std::size_t i = 0; const std::string& part : expert_step_lines(now, size_)) {
        const std::string longer = text + (i == 0 ? ": " : "; ") + part;
        if (++i > 2 || canvas.measure(longer, ui_text(scene, 0.9f)).x > room.w) break;
        text = longer;
      }
      text_in(canvas, {room.x, room.y, room.w, line}, text, ui_text(scene, 0.9f));
    }
    take(room, line);
    if (has_rows && room.h > em * 8)
      take(room, draw_legend(canvas, {room.x, room.y}, room.w, grid_.legend(scene), scene, nullptr,
                             std::max(1, std::min(2, legend_rows(area, scene)))) +
                     em * 0.3f);
    if (!steps.empty() && area.h > em * kLeastWithExpertsEm)
      draw_steps(canvas, take_chart(room, has_rows, em), steps, scene);
    if (has_rows) return grid_.draw(canvas, room, scene);
    draw_empty_state(canvas, room, "The forward of this step comes next (F11).", scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture || scene.shown_step() < 0) return reaction;
    grid_.input(in, scene, reaction);
    chart_.input(in, made(scene), size_, reaction);
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    ExpertGrid grid;
    grid.update(scene);
    const Point size = grid.size_em();
    return {scene.em * std::max(46.0f, size.x + 2), scene.em * (size.y + 6 + kExpertChartEm)};
  }

  std::string csv(const Scene& scene) const override { return expert_csv(scene); }

 private:
  static void take(Rect& room, float height) {
    room.y += height;
    room.h = std::max(1.0f, room.h - height);
  }

  // The chart's place, taken out of the room: below the grid, and beside it where that would leave a low pane's
  // grid too little.
  Rect take_chart(Rect& room, bool with_grid, float em) const {
    const float tall = std::max(em * kExpertChartEm, room.h * 0.32f);
    const Point grid = grid_.size_em();
    const float left = std::min(em * grid.x, room.w * 0.55f);
    if (with_grid && room.h - tall < em * std::min(grid.y, kEnoughGridEm) &&
        room.w - left > em * kChartBesideEm) {
      const Rect chart{room.x + left + em, room.y, room.w - left - em, room.h};
      room.w = left;
      return chart;
    }
    const Rect chart{room.x, room.bottom() - tall, room.w, tall};
    room.h = std::max(1.0f, room.h - tall - em * 0.4f);
    return chart;
  }

  // Why nothing of this run can be drawn.
  std::string why_empty(const Scene& scene) const {
    if (mixture_size(*scene.capture).experts == 0 && scene.capture->last_step() >= 0)
      return "This model has one MLP in each layer, through which every row goes: only a mixture of "
             "experts has rows to draw here.";
    return empty_text(scene.capture, info(), info().empty);
  }

  // Made once for each state of the capture and each cursor.
  const std::vector<ExpertStep>& made(const Scene& scene) {
    const std::int64_t rows = scene.capture->rows_in("expert");
    if (capture_ != scene.capture || rows_ != rows || cursor_ != scene.cursor) {
      capture_ = scene.capture;
      rows_ = rows;
      cursor_ = scene.cursor;
      size_ = mixture_size(*scene.capture);
      steps_ = expert_steps(*scene.capture, scene.cursor);
    }
    return steps_;
  }

  void draw_steps(Canvas& canvas, Rect area, const std::vector<ExpertStep>& steps,
                  const Scene& scene) {
    const float em = scene.em;
    const std::vector<LegendEntry> key = {
        {.label = "different experts a layer", .color = scene.theme.accent, .glyph = "■"},
        {.label = "one row", .color = scene.theme.text, .glyph = "", .line = LineStyle::kDashed},
        {.label = "rows that choose freely",
         .color = scene.theme.text_dim,
         .glyph = "",
         .line = LineStyle::kDotted}};
    const int rows = area.w < em * kChartKeyEm ? 2 : 1;  // beside the grid it has less room
    const float used = std::max(
        em * kExpertKeyEm,
        draw_legend(canvas, {area.x, area.y}, area.w, key, scene, nullptr, rows) + em * 0.2f);
    chart_.draw(canvas, {area.x, area.y + used, area.w, area.h - used}, steps, size_, scene);
  }

  ExpertGrid grid_;
  ExpertChart chart_;
  const capture::Capture* capture_ = nullptr;
  std::int64_t rows_ = -1;
  capture::Tick cursor_ = -1;
  MixtureSize size_;
  std::vector<ExpertStep> steps_;
};

}  // namespace

std::unique_ptr<Panel> make_experts_panel() { return std::make_unique<ExpertsPanel>(); }

}  // namespace triescope::viz
