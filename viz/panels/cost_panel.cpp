// Worth it: whether drafts pay, by what they gave and by what a step costs here or elsewhere.
#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/panels/button_row.h"
#include "viz/panels/charts.h"
#include "viz/panels/cost_words.h"
#include "viz/panels/panels.h"
#include "viz/query/step_range.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kCostLineEm = 1.35f, kKnobFactor = 1.25f;
// A slide of 16:9 with the export's margins and caption.
constexpr Point kSlideEm{66.5f, 34};

// The actions of the buttons.
enum class Knob : std::uint8_t { kFrom, kRowLess, kRowMore, kRoundLess, kRoundMore };

struct CostButton {
  Rect box;
  Knob knob = Knob::kFrom;
  CostsFrom from = CostsFrom::kRun;
};

class CostPanel final : public Panel {
 public:
  // With `series` it draws these alone.
  explicit CostPanel(std::vector<CostSeries> series = {}) : fixed_(std::move(series)) {}

  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "cost",
        "Worth it",
        "Whether drafts pay: times as fast as plain decoding, by the drafts of a step. The line follows "
        "what was accepted in this run, the point is the run, the mark the number of drafts that pays "
        "best; below 1 drafts are a loss. Choose whose costs count, and change them.",
        "Choose the GPU's costs and see how many drafts would pay there.",
        "No draft has been verified yet: drafting methods show here whether theirs pay.",
        {"node", "verdict"}};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    buttons_.clear();
    plot_ = {};
    const std::vector<CostSeries>& series = series_of(scene);
    if (series.empty()) return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em;
    Rect room = area.inset(em * 0.6f);
    const auto take = [&](float height) {
      room.y += height;
      room.h = std::max(1.0f, room.h - height);
    };
    if (fixed_.empty() && scene.has_buttons() && area.h > em * 11)
      take(draw_buttons(canvas, room, series.front().model, scene));
    std::vector<std::string> shown;
    for (const std::string& line : sentences(series))
      for (std::string& part : wrap_text(canvas, line, ui_text(scene, 0.84f), room.w))
        shown.push_back(std::move(part));
    // A small pane belongs to the chart.
    const float most = std::max(0.0f, room.h - em * 12) / (em * kCostLineEm);
    shown.resize(std::min(shown.size(), static_cast<std::size_t>(most)));
    for (const std::string& line : shown) {
      text_in(canvas, {room.x, room.y, room.w, em * 1.2f}, line, ui_text(scene, 0.84f));
      take(em * kCostLineEm);
    }
    take(em * 0.3f);
    plot_ = draw_cost_chart(canvas, room, series, scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    const std::vector<CostSeries>& series = series_of(scene);
    if (!in.inside || series.empty()) return reaction;
    for (const CostButton& button : buttons_)
      if (button.box.contains(in.mouse)) {
        reaction.tooltip = {help_of(button)};
        if (in.clicked) press(button, series.front().model);
        return reaction;
      }
    for (const auto& [box, i] : plot_.points)
      if (box.contains(in.mouse) && i < series.size())
        reaction.tooltip = {worth_sentence(series[i]), needs_sentence(series[i].model)};
    for (const auto& [box, i] : plot_.bests)
      if (box.contains(in.mouse) && i < series.size())
        reaction.tooltip = best_lines(series[i].model);
    // Nothing is known of beams with another number of drafts.
    if (reaction.tooltip.empty() && plot_.area.contains(in.mouse) &&
        !series.front().model.facts.is_of_beams())
      reaction.tooltip =
          lines_at(series.front(), static_cast<int>(std::lround(plot_.x.value(in.mouse.x))));
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    return {scene.em * kSlideEm.x, scene.em * kSlideEm.y};
  }

  std::string csv(const Scene& scene) const override { return cost_csv(series_of(scene)); }

  std::string view_state() const override {
    return fixed_.empty() ? cost_choice_text(choice_) : "";
  }
  void set_view_state(const std::string& state) override { choose(read_cost_choice(state)); }

 private:
  const std::vector<CostSeries>& series_of(const Scene& scene) const {
    if (!fixed_.empty() || !scene.capture) return fixed_;
    const std::int64_t verdicts = scene.capture->counts().verdicts;
    if (made_.capture != scene.capture || made_.cursor != scene.cursor ||
        made_.verdicts != verdicts || made_.range != scene.range) {
      made_ = {scene.capture, scene.cursor, verdicts, scene.range, {}};
      auto facts = speculation_facts(*scene.capture, scene.cursor, scene.range);
      const std::string& title = scene.capture->run().method_title;
      if (facts && facts->drafting > 0)
        made_.series.push_back(
            {.name = title.empty() ? scene.capture->run().method : title,
             .model = cost_model(*std::move(facts), choice_, recorded_row_costs(*scene.capture))});
    }
    return made_.series;
  }

  static std::vector<std::string> sentences(const std::vector<CostSeries>& series) {
    std::vector<std::string> lines;
    for (const CostSeries& one : series)
      lines.push_back(worth_sentence(one) + " " + needs_sentence(one.model));
    lines.push_back(costs_sentence(series.front().model));
    return lines;
  }

  static std::vector<std::string> best_lines(const CostModel& model) {
    const CostPoint best = model.best();
    std::string places;
    for (int i = 0; i < std::min(best.drafts, 12); ++i)
      places += (i ? ", " : "") + model.yields[static_cast<std::size_t>(i)].place;
    return {"most with " + counted(best.drafts, "draft") + ": " + number_text(best.tokens, 2) +
                " tokens for " + number_text(best.cost, 2) + " = " +
                number_text(best.speedup(), 2) + " ×",
            "their places in the tree, by rank: " + places + (best.drafts > 12 ? ", …" : "")};
  }

  static std::vector<std::string> lines_at(const CostSeries& one, int drafts) {
    const int n = std::clamp(drafts, 0, static_cast<int>(one.model.yields.size()));
    const CostPoint point = one.model.at(n);
    return {one.name + " with " + counted(n, "draft") + ": " + number_text(point.tokens, 2) +
            " tokens for " + number_text(point.cost, 2) +
            " forwards of one row = " + number_text(point.speedup(), 2) + " ×"};
  }

  static std::string help_of(const CostButton& button) {
    switch (button.knob) {
      case Knob::kFrom:
        return button.from == CostsFrom::kRun ? "the times of this run's own forwards"
               : button.from == CostsFrom::kModel
                   ? "the costs by which drafting methods decide, for "
                     "these weights on this device"
               : button.from == CostsFrom::kGpu
                   ? "a GPU, where more rows cost almost nothing"
                   : "a mixture of experts on a GPU: this run's, as its "
                     "steps read them, else 64 experts, 8 a row, four "
                     "fifths of a row's weights in them";
      case Knob::kRowLess:
      case Knob::kRowMore:
        return "what a further row costs, in forwards of one row";
      case Knob::kRoundLess:
      case Knob::kRoundMore:
        break;
    }
    return "what a round of the drafter costs, in forwards of one row";
  }

  void choose(CostChoice choice) {
    choice_ = std::move(choice);
    made_ = {};
  }

  void press(const CostButton& button, const CostModel& model) {
    CostChoice choice = choice_;
    const double factor = static_cast<double>(
        button.knob == Knob::kRowLess || button.knob == Knob::kRoundLess ? 1 / kKnobFactor
                                                                         : kKnobFactor);
    switch (button.knob) {
      case Knob::kFrom:
        choice = {.from = button.from};
        break;
      case Knob::kRowLess:
      case Knob::kRowMore: {
        const double row = std::max(0.005, model.forwards.second_row()) * factor;
        choice.from = CostsFrom::kTyped;
        choice.typed = {.second_row = row, .cheap_row = row, .dear_row = row};
        break;
      }
      case Knob::kRoundLess:
      case Knob::kRoundMore:
        choice.round = std::max(0.005, model.round) * factor;
    }
    choose(std::move(choice));
  }

  // Whose costs, and two figures that can be changed; returns the height used.
  float draw_buttons(Canvas& canvas, Rect room, const CostModel& model, const Scene& scene) {
    const float em = scene.em;
    ButtonRow row(canvas, room, scene);
    const auto button = [&](const std::string& label, bool is_on, CostButton what) {
      what.box = row.button(label, is_on);
      buttons_.push_back(what);
    };
    const std::pair<const char*, CostsFrom> sources[] = {{"this run", CostsFrom::kRun},
                                                         {"its kernels", CostsFrom::kModel},
                                                         {"a GPU", CostsFrom::kGpu},
                                                         {"experts", CostsFrom::kExperts}};
    for (const auto& [label, from] : sources)
      button(label, model.from == from, {{}, Knob::kFrom, from});
    const auto knob = [&](const std::string& label, Knob less, Knob more) {
      const float width = canvas.measure(label, row.on()).x + em * 0.6f;
      row.keep_together(width + em * 4.5f);
      row.skip(em * 0.5f);
      text_in(canvas, row.place(width), label, row.on());
      button("−", false, {{}, less});
      button("+", false, {{}, more});
    };
    knob("a row " + number_text(model.forwards.second_row(), 3), Knob::kRowLess, Knob::kRowMore);
    knob("drafter " + number_text(model.round, 3), Knob::kRoundLess, Knob::kRoundMore);
    return row.last_line() + em * 1.9f;
  }

  // Made once per cursor, range, choice and state of the capture.
  struct Made {
    const capture::Capture* capture = nullptr;
    capture::Tick cursor = -1;
    std::int64_t verdicts = -1;
    StepRange range = {};
    std::vector<CostSeries> series = {};  // empty = no drafts
  };

  std::vector<CostSeries> fixed_;
  CostChoice choice_;
  std::vector<CostButton> buttons_;
  CostPlot plot_;
  mutable Made made_;
};

}  // namespace

std::unique_ptr<Panel> make_cost_panel() { return std::make_unique<CostPanel>(); }

std::unique_ptr<Panel> make_cost_picture(std::vector<CostSeries> series) {
  return std::make_unique<CostPanel>(std::move(series));
}

}  // namespace triescope::viz
