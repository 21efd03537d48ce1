// Log: the run's messages, newest last.
#include <algorithm>
#include <sstream>

#include "viz/draw/drawing.h"
#include "viz/panels/panels.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kHeadEm = 8.5f;  // "step 123  warning"
constexpr const char* kLevels[] = {"debug", "info", "warning", "error"};

class LogPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "log",
        "Log",
        "What the run said, with the step it happened in. Click a line to go there.",
        "Click a line: all panels go to the step it speaks of.",
        "The log is empty.",
        /*rows=*/{"log"}};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    lines_.clear();
    const auto rows = rows_of(scene);
    if (rows.empty()) return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em, pad = em * 0.6f, row = em * 1.3f, head = em * kHeadEm;
    // Laid out from the newest upwards, so that the end is always in sight; what fits begins at the
    // top.
    std::vector<std::vector<std::string>> texts;
    const float width = std::max(em * 4, area.w - 2 * pad - head);
    total_ = 0;
    for (auto it = rows.rbegin(); it != rows.rend(); ++it) {
      // A message far out of sight is taken as one line high.
      texts.push_back(total_ > area.h * 3 + scroll_
                          ? std::vector<std::string>(1)
                          : wrap_text(canvas, it->text, ui_text(scene, 0.9f), width));
      total_ += row * static_cast<float>(texts.back().size());
    }
    float y = total_ + pad < area.h || scene.export_mode ? area.y + pad * 0.5f + total_
                                                         : area.bottom() - pad * 0.5f + scroll_;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const capture::LogRow& line = rows[rows.size() - 1 - k];
      const auto& text = texts[k];
      const float height = row * static_cast<float>(text.size());
      y -= height;
      if (y > area.bottom() || y + height < area.y) continue;
      const bool bad = line.level >= 2;
      TextStyle style = ui_text(scene, 0.9f);
      if (bad) style.color = scene.theme.mark(capture::NodeState::kRejected).color;
      text_in(canvas, {area.x + pad, y, head - em * 0.5f, row},
              "step " + std::to_string(capture::step_of(line.tick)) +
                  (bad ? std::string("  ") + kLevels[std::clamp(line.level, 0, 3)] : ""),
              dim_text(scene, 0.82f));
      for (std::size_t i = 0; i < text.size(); ++i)
        text_in(
            canvas,
            {area.x + pad + head, y + row * static_cast<float>(i), area.w - 2 * pad - head, row},
            text[i], style);
      lines_.push_back({{area.x, y, area.w, height}, line.tick});
    }
    overflow_ = std::max(0.0f, total_ - area.h + pad);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (in.inside && in.wheel != 0)
      scroll_ = std::clamp(scroll_ + in.wheel * scene.em * 3, 0.0f, overflow_);
    if (in.dragging) scroll_ = std::clamp(scroll_ + in.drag_delta.y, 0.0f, overflow_);
    if (in.clicked)
      for (const auto& [area, tick] : lines_)
        if (area.contains(in.mouse)) reaction.cursor = tick + 1;
    return reaction;
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    const float em = scene.em, width = em * 56;
    float lines = 0;
    for (const capture::LogRow& row : rows_of(scene))
      lines += static_cast<float>(
          wrap_text(canvas, row.text, ui_text(scene, 0.9f), width - em * (kHeadEm + 1.2f)).size());
    return {width, em * (1.2f + 1.3f * std::max(3.0f, lines))};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "step,phase,level,text\n";
    for (const capture::LogRow& row : rows_of(scene))
      out << capture::step_of(row.tick) << ',' << capture::to_string(capture::phase_of(row.tick))
          << ',' << kLevels[std::clamp(row.level, 0, 3)] << ',' << csv_field(row.text) << '\n';
    return out.str();
  }

 private:
  static std::vector<capture::LogRow> rows_of(const Scene& scene) {
    std::vector<capture::LogRow> rows;
    if (!scene.capture) return rows;
    for (const capture::LogRow& row : scene.capture->log())
      if (row.tick < scene.cursor) rows.push_back(row);
    return rows;
  }

  float scroll_ = 0, overflow_ = 0, total_ = 0;
  std::vector<std::pair<Rect, capture::Tick>> lines_;
};

}  // namespace

std::unique_ptr<Panel> make_log_panel() { return std::make_unique<LogPanel>(); }

}  // namespace triescope::viz
