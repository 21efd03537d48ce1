#include "viz/panels/draft_rows.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "viz/draw/drawing.h"
#include "viz/draw/fault_text.h"
#include "viz/draw/node_text.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

constexpr float kDraftRowEm = 1.6f, kLevelsHeadEm = 1.25f, kLevelsFootEm = 0.4f;
constexpr float kChipGapEm = 0.3f;
constexpr float kRestEm = 2.6f;    // the room for how many drafts there are besides
constexpr float kFaultEm = 0.85f;  // the room for a fault's mark

std::vector<std::string> draft_tooltip(const StepDraft& draft, const DraftLevel& level,
                                       const Scene& scene) {
  std::vector<std::string> lines = node_tooltip(scene, draft.node);
  lines.insert(
      lines.begin() + 1,
      "level " + std::to_string(draft.level) + ", below " +
          node_text(scene, scene.capture->nodes()[static_cast<std::size_t>(draft.node)].parent));
  if (!std::isnan(draft.score))
    lines.push_back("Σ log q of the drafted path = " + logprob_text(draft.score));
  if (std::binary_search(level.withdrawn.begin(), level.withdrawn.end(), draft.node))
    lines.push_back("withdrawn: the target never saw it");
  return lines;
}

std::string place_text(const DraftLevel& level) {
  switch (level.guess) {
    case Guess::kUnknown:
      return "";
    case Guess::kMissed:
      return "–";
    case Guess::kCame:
      return ordinal_text(level.place);
    case Guess::kWithdrawn:
      return ordinal_text(level.place) + ", w";
    case Guess::kElsewhere:
      return "(" + ordinal_text(level.place) + ")";
  }
  return "";
}

struct ChipLabel {
  std::string text;
  capture::RowMark fault = capture::RowMark::kNone;  // it has a mark behind the text
  float width = 0;
};
ChipLabel label_of(Canvas& canvas, const StepDraft& draft, const Scene& scene) {
  ChipLabel label{node_text(scene, draft.node, 12), fault_mark(scene, draft.node)};
  label.width = scene.em * 1.5f + canvas.measure(label.text, mono_text(scene, 0.84f)).x;
  if (label.fault != capture::RowMark::kNone) label.width += scene.em * kFaultEm;
  return label;
}

// The number of lines of `width` px in which all drafts of a level have room, at most `most`.
int lines_needed(Canvas& canvas, const DraftLevel& level, float width, int most,
                 const Scene& scene) {
  int lines = 1;
  float x = 0;
  for (const StepDraft& draft : level.drafts) {
    const float chip = label_of(canvas, draft, scene).width;
    if (x > 0 && x + chip > width) {
      if (++lines >= most) return most;
      x = 0;
    }
    x += chip + scene.em * kChipGapEm;
  }
  return lines;
}

// Each level gets a line. Those that need more get the rest, the first levels first.
std::vector<int> share_lines(Canvas& canvas, const DraftLevels& drafts, float width, int spare,
                             const Scene& scene) {
  std::vector<int> lines;
  for (const DraftLevel& level : drafts.levels) {
    lines.push_back(lines_needed(canvas, level, width, 1 + spare, scene));
    spare -= lines.back() - 1;
  }
  return lines;
}

}  // namespace

float DraftRows::height_em(std::size_t levels) {
  return kLevelsHeadEm + kDraftRowEm * static_cast<float>(levels) + kLevelsFootEm;
}

void DraftRows::clear() {
  chips_.clear();
  list_ = {};
}

void DraftRows::draw(Canvas& canvas, Rect area, const DraftLevels& drafts, const Scene& scene) {
  if (drafts.levels.empty()) return;
  const float em = scene.em, row = em * kDraftRowEm;
  const float level_width = em * 2.8f, came_width = std::min(em * 8, area.w * 0.24f);
  const bool with_place = area.w > em * 26;
  const float place_width = with_place ? em * 5.2f : 0;
  const float chips_x = area.x + level_width + came_width + place_width;
  const TextStyle head = dim_text(scene, 0.76f);
  draw_head(canvas, {area.x, area.y, level_width, em * 1.2f}, "level", head);
  draw_head(canvas, {area.x + level_width, area.y, came_width, em * 1.2f}, "came", head);
  if (with_place)
    draw_head(canvas, {area.x + level_width + came_width, area.y, place_width, em * 1.2f}, "place",
              head);
  draw_head(canvas, {chips_x, area.y, area.right() - chips_x, em * 1.2f},
            "proposed, likeliest first", head);
  list_ = {area.x, area.y + em * kLevelsHeadEm, area.w,
           std::max(1.0f, area.h - em * (kLevelsHeadEm + kLevelsFootEm / 2))};
  // A thousandth of a row is rounding, not a row that lacks room.
  const auto fitting = static_cast<std::size_t>(std::max(1.0f, list_.h / row + 0.001f));
  const std::size_t levels = drafts.levels.size();
  scroll_ = std::min(scroll_, static_cast<float>(levels > fitting ? levels - fitting : 0));
  const std::size_t first = scene.export_mode ? 0 : static_cast<std::size_t>(scroll_);
  // The last row says how much does not fit.
  const std::size_t below = levels > first + fitting ? levels - first - fitting + 1 : 0;
  const std::size_t last = below > 0 ? first + fitting - 1 : std::min(levels, first + fitting);
  const int spare = levels < fitting ? static_cast<int>(fitting - levels) : 0;
  const auto lines = share_lines(canvas, drafts, area.right() - chips_x, spare, scene);
  float y = list_.y;
  for (std::size_t i = first; i < last; ++i) {
    const DraftLevel& level = drafts.levels[i];
    text_in(canvas, {area.x, y, level_width, row}, std::to_string(level.level),
            dim_text(scene, 0.9f));
    draw_came(canvas, {area.x + level_width, y, came_width - em * 0.3f, row}, level, scene);
    if (with_place)
      text_in(canvas, {area.x + level_width + came_width, y, place_width, row}, place_text(level),
              dim_text(scene, 0.84f));
    draw_chips(canvas, {chips_x, y, area.right() - chips_x, row}, lines[i], level, scene);
    y += row * static_cast<float>(lines[i]);
  }
  if (below > 0)
    text_in(canvas, {area.x, y, area.w, row}, more_rows(below, scene, "level"),
            dim_text(scene, 0.8f));
}

bool DraftRows::input(const Input& in, const DraftLevels& drafts, const Scene& scene,
                      Reaction& reaction) {
  if (in.wheel != 0 && list_.contains(in.mouse))
    scroll_ = std::clamp(scroll_ - in.wheel, 0.0f, static_cast<float>(drafts.levels.size()));
  for (const Chip& chip : chips_) {
    if (!chip.box.contains(in.mouse)) continue;
    reaction.hover = chip.node;
    if (in.clicked) reaction.lock = chip.node;
    for (const DraftLevel& level : drafts.levels)
      for (const StepDraft& draft : level.drafts)
        if (draft.node == chip.node) reaction.tooltip = draft_tooltip(draft, level, scene);
    if (reaction.tooltip.empty()) reaction.tooltip = node_tooltip(scene, chip.node);
    return true;
  }
  return false;
}

void DraftRows::draw_came(Canvas& canvas, Rect box, const DraftLevel& level, const Scene& scene) {
  const float em = scene.em;
  if (level.came < 0) return text_in(canvas, box, "…", dim_text(scene, 0.9f));
  const Mark mark = scene.theme.mark(scene.capture->state_at(level.came, scene.cursor));
  draw_glyph(canvas, mark.glyph, {box.x + em * 0.45f, box.y + box.h / 2}, em * 0.7f, mark.color);
  text_in(canvas, {box.x + em, box.y, box.w - em, box.h}, node_text(scene, level.came, 16),
          mono_text(scene, 0.9f));
  chips_.push_back({box, level.came});
}

void DraftRows::draw_chips(Canvas& canvas, Rect area, int lines, const DraftLevel& level,
                           const Scene& scene) {
  const float em = scene.em;
  float x = area.x;
  for (std::size_t i = 0; i < level.drafts.size(); ++i) {
    const StepDraft& draft = level.drafts[i];
    const ChipLabel label = label_of(canvas, draft, scene);
    if (lines > 1 && x > area.x && x + label.width > area.right()) {
      x = area.x;
      area.y += area.h;
      --lines;
    }
    // The last place is kept for how many there are besides.
    const float kept = lines == 1 && i + 1 < level.drafts.size() ? em * kRestEm : 0;
    if (x + label.width + kept > area.right()) {
      // Those behind this one may have room without it.
      float all = x - em * kChipGapEm;
      for (std::size_t j = i; j < level.drafts.size() && all <= area.right(); ++j)
        all += em * kChipGapEm + label_of(canvas, level.drafts[j], scene).width;
      if (all > area.right()) {
        text_in(canvas, {x, area.y, area.right() - x, area.h},
                "+" + std::to_string(level.drafts.size() - i), dim_text(scene, 0.8f));
        return;
      }
    }
    const bool withdrawn =
        std::binary_search(level.withdrawn.begin(), level.withdrawn.end(), draft.node);
    const bool came = draft.node == level.came;
    const NodeState state =
        withdrawn ? NodeState::kWithdrawn : scene.capture->state_at(draft.node, scene.cursor);
    const Mark mark = scene.theme.mark(state);
    TextStyle style = mono_text(scene, 0.84f);
    if (came)
      style.color = scene.theme.text;
    else if (withdrawn || capture::is_dead(state))
      style.color = scene.theme.text_dim;
    const Rect box{x, area.y + em * 0.12f, label.width, area.h - em * 0.24f};
    if (came) canvas.fill_rect(box, mark.color.with_alpha(0.25f), em * 0.2f);
    if (scene.focus.node() == draft.node)
      canvas.stroke_rect(box, scene.theme.focus, 1.5f, LineStyle::kSolid, em * 0.2f);
    else
      canvas.stroke_rect(box, came ? mark.color : scene.theme.border, 1,
                         withdrawn ? LineStyle::kDashed : LineStyle::kSolid, em * 0.2f);
    draw_glyph(canvas, mark.glyph, {x + em * 0.6f, area.y + area.h / 2}, em * 0.58f, mark.color);
    text_in(canvas, {x + em * 1.1f, area.y, label.width - em * 1.2f, area.h}, label.text, style);
    if (label.fault != capture::RowMark::kNone)
      draw_glyph(canvas, fault_glyph(label.fault),
                 {x + label.width - em * 0.55f, area.y + area.h / 2}, em * 0.6f, scene.theme.fault);
    chips_.push_back({box, draft.node});
    x += label.width + em * kChipGapEm;
  }
}

}  // namespace triescope::viz
