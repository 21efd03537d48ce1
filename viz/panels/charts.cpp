#include "viz/panels/charts.h"

#include <algorithm>
#include <sstream>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "viz/draw/drawing.h"
#include "viz/panels/level_chart.h"
#include "viz/panels/level_history.h"
#include "viz/panels/verdict_history.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kChartHeadEm = 1.9f, kChartAxisEm = 1.5f;

// "n = 23 steps (4 to 26)".
std::string sample_text(std::int64_t steps, const Scene& scene) {
  std::string text = "n = " + counted(steps, "step");
  if (scene.range)
    text += " (" + std::to_string(scene.range->first) + " to " +
            std::to_string(scene.range->second) + ")";
  return text;
}

// Draws the chart's name and its sample on the first line. Returns the room below.
Rect draw_chart_head(Canvas& canvas, Rect area, const std::string& title, const std::string& sample,
                     const Scene& scene) {
  const float em = scene.em;
  const TextStyle bold = bold_text(scene), dim = dim_text(scene);
  const float taken = canvas.measure(sample, dim).x + em;
  text_in(canvas, {area.x, area.y, std::max(1.0f, area.w - taken), em * 1.4f}, title, bold);
  text_in(canvas, {area.x, area.y, area.w, em * 1.4f}, sample, dim, Align::kRight);
  return {area.x, area.y + em * kChartHeadEm, area.w, std::max(1.0f, area.h - em * kChartHeadEm)};
}

// Accepted drafts, or margins at the cut: a histogram, or bars by step.
class StepChart final : public Panel {
 public:
  StepChart(PanelInfo info, bool drafts, bool by_step)
      : info_(std::move(info)), drafts_(drafts), by_step_(by_step) {}

  const PanelInfo& info() const override { return info_; }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    if (!scene.capture || VerdictHistory::is_of_drafts(scene) != drafts_ || !history_.any(scene))
      return draw_empty_state(canvas, area, info_.empty, scene);
    const float em = scene.em;
    const auto values = history_.values_of(scene);
    const auto steps = std::ranges::count_if(
        values, [&](const auto& value) { return scene.in_range(value.step); });
    Rect room = draw_chart_head(canvas, area, info_.title, sample_text(steps, scene), scene);
    if (steps == 0) return draw_empty_state(canvas, room, "None of these steps has one.", scene);
    const Rect axis{room.x, room.bottom() - em * kChartAxisEm, room.w, em * kChartAxisEm};
    room.h = std::max(1.0f, room.h - em * kChartAxisEm);
    if (by_step_)
      history_.draw_bars(canvas, room, scene);
    else
      history_.draw_histogram(canvas, room, scene);
    text_in(canvas, axis,
            by_step_  ? "step"
            : drafts_ ? "drafts accepted in a step (above each bar: steps)"
                      : "margin Δ Σ log p (above each bar: steps)",
            dim_text(scene, 0.8f), Align::kCenter);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (scene.capture && in.inside) history_.input(in, scene, reaction);
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    return {scene.em * (by_step_ ? 52.0f : 36.0f), scene.em * 20};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    const char* const value = drafts_ ? "accepted" : "margin";
    out << (by_step_  ? std::string("step,") + value
            : drafts_ ? "accepted,steps"
                      : "margin_from,steps")
        << '\n';
    if (!scene.capture || VerdictHistory::is_of_drafts(scene) != drafts_) return out.str();
    VerdictHistory history;
    if (by_step_) {
      for (const auto& row : history.values_of(scene))
        if (scene.in_range(row.step)) out << row.step << ',' << csv_number(row.value) << '\n';
    } else {
      for (const auto& [bin, count] : history.histogram_of(scene))
        out << (drafts_ ? std::to_string(bin) : csv_number(bin / 10.0)) << ',' << count << '\n';
    }
    return out.str();
  }

 private:
  PanelInfo info_;
  bool drafts_, by_step_;
  VerdictHistory history_;
};

// The guesses of each level of drafts.
class LevelsChart final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {"levels", "Guesses by level and position", "", "",
                                   "This run has no levels of drafts: drafting methods have."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    if (!scene.capture || history_.seen(scene).empty())
      return draw_empty_state(canvas, area, info().empty, scene);
    std::vector<std::int32_t> steps;
    for (const LevelGuess& guess : history_.seen(scene)) steps.push_back(guess.step);
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    const Rect room =
        draw_chart_head(canvas, area, info().title,
                        sample_text(static_cast<std::int64_t>(steps.size()), scene), scene);
    history_.draw(canvas, room, scene.shown_step(), scene);
  }

  Point extent(Canvas&, const Scene& scene) const override {
    const float levels = scene.capture ? history_.height_em(scene) : 0;
    return {scene.em * 60, scene.em * std::max(8.0f, kChartHeadEm + levels + 0.2f)};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "level,guesses,first,proposed,verified\n";
    if (!scene.capture) return out.str();
    for (const LevelShares& row : history_.shares(scene))
      out << row.level << ',' << row.guesses << ',' << row.first << ',' << row.any << ','
          << row.used << '\n';
    return out.str();
  }

 private:
  mutable LevelHistory history_;  // built once per capture, for drawing, extent and CSV
};

std::vector<std::unique_ptr<Panel>> make_charts() {
  const char* const no_drafts =
      "This run made no drafts: greedy decoding, sampling and beam search accept none.";
  const char* const no_cut =
      "This run has no cut between beams: beam search has one in every step.";
  std::vector<std::unique_ptr<Panel>> charts;
  charts.push_back(std::make_unique<StepChart>(
      PanelInfo{"acceptance", "Accepted drafts", "", "", no_drafts}, true, false));
  charts.push_back(std::make_unique<StepChart>(
      PanelInfo{"acceptance-by-step", "Accepted drafts by step", "", "", no_drafts}, true, true));
  charts.push_back(std::make_unique<StepChart>(
      PanelInfo{"margins", "Margins at the cut", "", "", no_cut}, false, false));
  charts.push_back(std::make_unique<StepChart>(
      PanelInfo{"margins-by-step", "Margin at the cut by step", "", "", no_cut}, false, true));
  charts.push_back(std::make_unique<LevelsChart>());
  charts.push_back(make_level_chart());
  for (int i = 0; i < kAcceptanceByCount; ++i)
    if (const auto by = static_cast<AcceptanceBy>(i); by != AcceptanceBy::kDepth)
      charts.push_back(make_acceptance_chart(by));  // by depth: the level chart
  return charts;
}

}  // namespace

const std::vector<std::string>& chart_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& chart : make_charts()) all.push_back(chart->info().name);
    return all;
  }();
  return names;
}

const std::vector<std::string>& picture_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = panel_names();
    all.insert(all.end(), chart_names().begin(), chart_names().end());
    return all;
  }();
  return names;
}

std::unique_ptr<Panel> make_picture(const std::string& name) {
  for (auto& chart : make_charts())
    if (chart->info().name == name) return std::move(chart);
  if (std::ranges::find(panel_names(), name) != panel_names().end()) return make_panel(name);
  std::string list;
  for (const std::string& known : picture_names()) list += (list.empty() ? "" : ", ") + known;
  throw Error(ErrorCode::kInvalidArgument,
              "panel '" + name + "' is not one of: " + list + did_you_mean(name, picture_names()));
}

}  // namespace triescope::viz
