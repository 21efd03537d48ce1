#include "viz/panels/acceptance_sheet.h"

#include <algorithm>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/text/csv_columns.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kSheetWidthEm = 56, kSheetHeadEm = 1.9f, kSheetNameEm = 1.6f, kSheetGapEm = 0.6f;
constexpr float kSheetPadEm = 0.6f;

const char* empty_words(AcceptanceBy by, const Acceptance& acceptance) {
  return acceptance.unknown ? "The captures do not have what this takes."
         : is_of_causes(by) ? "No draft failed."
                            : "No draft was verified.";
}

float block_em(const NamedAcceptance& method) {
  return kSheetNameEm +
         AcceptanceRows::height_em(std::max<std::size_t>(1, method.acceptance.groups.size())) +
         kSheetGapEm;
}

class AcceptanceSheetPanel final : public Panel {
 public:
  AcceptanceSheetPanel(AcceptanceBy by, std::vector<NamedAcceptance> methods)
      : info_{std::string("acceptance-by-") + to_string(by), acceptance_headline(by), "", "",
              "No run has drafts."},
        by_(by),
        methods_(std::move(methods)) {}

  const PanelInfo& info() const override { return info_; }
  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    if (methods_.empty()) return draw_empty_state(canvas, area, info_.empty, scene);
    text_in(canvas, {area.x + scene.em * kSheetPadEm, area.y, area.w, scene.em * kSheetHeadEm},
            info_.title, bold_text(scene));
    const float head = scene.em * kSheetHeadEm;
    AcceptanceSheet().draw(canvas, {area.x, area.y + head, area.w, area.h - head}, by_, methods_,
                           scene);
  }
  Point extent(Canvas&, const Scene& scene) const override {
    return {scene.em * kSheetWidthEm,
            scene.em * (kSheetHeadEm + std::max(8.0f, AcceptanceSheet::height_em(methods_)))};
  }
  std::string csv(const Scene&) const override { return acceptance_sheet_csv(by_, methods_); }

 private:
  PanelInfo info_;
  AcceptanceBy by_;
  std::vector<NamedAcceptance> methods_;
};

}  // namespace

float AcceptanceSheet::height_em(const std::vector<NamedAcceptance>& methods) {
  float height = 0;
  for (const NamedAcceptance& method : methods) height += block_em(method);
  return height;
}

void AcceptanceSheet::draw(Canvas& canvas, Rect area, AcceptanceBy by,
                           const std::vector<NamedAcceptance>& methods, const Scene& scene) {
  bars_.clear();
  const float em = scene.em;
  const Rect room{area.x + em * kSheetPadEm, area.y, std::max(1.0f, area.w - 2 * em * kSheetPadEm),
                  area.h};
  const TextStyle dim = dim_text(scene, 0.82f), bold = bold_text(scene, 0.9f);
  float y = room.y;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const NamedAcceptance& method = methods[m];
    const float height = em * block_em(method);
    if (y + height > room.bottom() + 1) break;
    std::string sample = counted(method.runs, "run");
    if (method.acceptance.unknown)
      sample += ", " + std::to_string(method.acceptance.unknown) + " more not recorded";
    const float taken = std::min(room.w * 0.5f, canvas.measure(sample, dim).x + em);
    text_in(canvas, {room.x, y, room.w - taken, em * 1.4f},
            fit_text(canvas, method.name, bold, room.w - taken), bold);
    text_in(canvas, {room.right() - taken, y, taken, em * 1.4f}, sample, dim, Align::kRight);
    const Rect plot{room.x, y + em * kSheetNameEm, room.w,
                    height - em * (kSheetNameEm + kSheetGapEm)};
    if (method.acceptance.groups.empty()) {
      draw_empty_state(canvas, plot, empty_words(by, method.acceptance), scene);
    } else {
      AcceptanceRows rows;
      rows.draw(canvas, plot, by, method.acceptance, scene);
      for (const auto& [box, group] : rows.bars()) bars_.push_back({box, m, group});
    }
    y += height;
  }
}

NamedAcceptance shown_acceptance(AcceptanceBy by, NamedAcceptance method) {
  drop_empty_causes(by, method.acceptance);
  return method;
}

std::string acceptance_sheet_csv(AcceptanceBy by, const std::vector<NamedAcceptance>& methods) {
  std::string csv;
  for (const NamedAcceptance& method : methods)
    csv += with_columns("name", csv_field(method.name), acceptance_csv(by, method.acceptance),
                        csv.empty());
  return csv;
}

std::unique_ptr<Panel> make_acceptance_sheet(AcceptanceBy by,
                                             std::vector<NamedAcceptance> methods) {
  return std::make_unique<AcceptanceSheetPanel>(by, std::move(methods));
}

}  // namespace triescope::viz
