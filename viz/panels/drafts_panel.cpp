// Drafts: what each head or level of a step proposed, likeliest first, against the token that came;
// what was withdrawn before the forward. Below: the same over the text, by position and level.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/panels/level_history.h"
#include "viz/panels/panels.h"
#include "viz/query/step_so_far.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;
using capture::Whose;

constexpr float kDraftRowEm = 1.6f, kDraftsTopEm = 1.7f, kLevelsHeadEm = 1.25f,
                kLevelsFootEm = 0.4f;

struct Shown {
  const capture::Capture* capture = nullptr;
  capture::Tick cursor = -1;
  std::int64_t verdicts = -1;
  DraftLevels drafts = {};
};

// One draft as drawn, for the mouse.
struct Chip {
  Rect box;
  std::int32_t node;
};

std::size_t drafts_of(const DraftLevels& drafts) {
  std::size_t sum = 0;
  for (const DraftLevel& level : drafts.levels) sum += level.drafts.size();
  return sum;
}

// Counts all proposals, those left out of the forward, and those that the target has to verify or
// has accepted.
std::string headline(const DraftLevels& drafts, const Scene& scene) {
  const StepSoFar step = step_so_far(*scene.capture, drafts.step, scene.cursor);
  std::string head = "step " + std::to_string(drafts.step) + ": ";
  const std::string levels = " on " + counted(drafts.levels.size(), "level");
  if (step.withdrawn > 0)
    head += std::to_string(drafts_of(drafts)) + " proposed" + levels + ", " +
            std::to_string(step.withdrawn) + " withdrawn, " + drafts_text(step);
  else
    head += counted(drafts_of(drafts), "draft") + levels +
            (step.decided ? ", " + drafts_text(step) : std::string());
  const auto forwards = scene.capture->inputs(drafts.step, Whose::kHead);
  if (!forwards.empty())
    head += "   (" + counted(forwards.back().forward + 1, "forward") + " of the head, " +
            counted(forwards.size(), "row") + ")";
  return head;
}

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

class DraftsPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "drafts", "Drafts",
        "What each level of this step's drafts proposed, likeliest first, and which token came. A "
        "level is one head of several or one round of drafting; "
        "withdrawn drafts never reached the target. Below: for each position of the text the place "
        "that each level gave its token; click a cell to go to that step.",
        "Find a level whose first guess seldom came, and look in the trie at what it guessed instead.",
        "No drafts in this step: methods that draft show here what they proposed."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    chips_.clear();
    history_.clear();
    list_ = {};
    if (!scene.capture || scene.shown_step() < 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    const DraftLevels& drafts = shown_at(scene);
    const float em = scene.em, pad = em * 0.6f;
    const float wanted = em * history_.height_em(scene);
    if (drafts.levels.empty() && wanted == 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    const std::string title = drafts.levels.empty()
                                  ? "step " + std::to_string(drafts.step) + ": nothing drafted"
                                  : headline(drafts, scene);
    const TextStyle bold = bold_text(scene, 0.9f);
    // A narrow pane breaks the title rather than cut it.
    auto lines = wrap_text(canvas, title, bold, area.w - 2 * pad);
    const float room = area.h - em * (kDraftsTopEm + kLevelsHeadEm + kDraftRowEm);
    for (const float most = 1 + room / (em * 1.3f);
         lines.size() > 1 && static_cast<float>(lines.size()) > most;) {
      const std::string last = lines.back();
      lines.pop_back();
      lines.back() += " " + last;
    }
    const float top = em * (kDraftsTopEm + 1.3f * static_cast<float>(lines.size() - 1));
    // The whole picture has room for all; a pane gives the history what the step's levels leave, and
    // half of its height at least.
    const float levels =
        top + em * (kLevelsHeadEm + kDraftRowEm * static_cast<float>(drafts.levels.size()) +
                    kLevelsFootEm);
    const float history =
        scene.export_mode && area.h >= levels + wanted ? wanted
        : area.h > em * 11 ? std::min(wanted, std::max({em * 5.6f, area.h * 0.5f, area.h - levels}))
                           : 0;
    for (std::size_t i = 0; i < lines.size(); ++i)
      text_in(canvas,
              {area.x + pad, area.y + em * (0.25f + 1.3f * static_cast<float>(i)), area.w - 2 * pad,
               em * 1.3f},
              lines[i], bold);
    // A pane too low for the history says so, if it still has room for a level.
    const bool is_low = history == 0 && wanted > 0;
    const float note =
        is_low && area.h > top + em * (kLevelsHeadEm + kDraftRowEm + 1.3f) ? em * 1.3f : 0;
    if (note > 0)
      text_in(canvas, {area.x + pad, area.bottom() - note, area.w - 2 * pad, note},
              "guesses over the text: in a taller panel", dim_text(scene, 0.8f));
    draw_levels(canvas,
                {area.x + pad, area.y + top, area.w - 2 * pad,
                 std::max(1.0f, area.h - top - em * kLevelsFootEm / 2 - history - note)},
                drafts, scene);
    if (history > 0)
      history_.draw(canvas, {area.x + pad, area.bottom() - history, area.w - 2 * pad, history},
                    drafts.step, scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture || scene.shown_step() < 0 || !in.inside) return reaction;
    const DraftLevels& drafts = shown_at(scene);
    if (in.wheel != 0 && list_.contains(in.mouse))
      scroll_ = std::clamp(scroll_ - in.wheel, 0.0f, static_cast<float>(drafts.levels.size()));
    reaction.hover = -1;
    for (const Chip& chip : chips_) {
      if (!chip.box.contains(in.mouse)) continue;
      reaction.hover = chip.node;
      if (in.clicked) reaction.lock = chip.node;
      for (const DraftLevel& level : drafts.levels)
        for (const StepDraft& draft : level.drafts)
          if (draft.node == chip.node) reaction.tooltip = draft_tooltip(draft, level, scene);
      if (reaction.tooltip.empty()) reaction.tooltip = node_tooltip(scene, chip.node);
      return reaction;
    }
    history_.input(in, scene, reaction);
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    float rows = 0, history = 0;
    if (scene.capture && scene.shown_step() >= 0) {
      rows = static_cast<float>(what_is_shown(scene).drafts.levels.size());
      history = history_.height_em(scene);
    }
    return {scene.em * 60,
            scene.em * std::max(14.0f, kDraftsTopEm + kLevelsHeadEm + rows * kDraftRowEm +
                                           kLevelsFootEm + history)};
  }

  // A row a level of every step in range.
  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "step,level,depth,came,text,place,guess\n";
    if (!scene.capture) return out.str();
    for (const LevelGuess& guess : history_.seen(scene)) {
      out << guess.step << ',' << guess.level << ',' << guess.depth << ',';
      if (guess.came >= 0) {
        const std::int32_t token =
            scene.capture->nodes()[static_cast<std::size_t>(guess.came)].token;
        out << token << ',' << csv_field(plain_text(scene.capture->piece(token)));
      } else {
        out << ',';
      }
      out << ',';
      if (guess.place >= 0) out << guess.place;
      out << ',' << guess_name(guess.guess) << '\n';
    }
    return out.str();
  }

 private:
  static const char* guess_name(Guess guess) {
    switch (guess) {
      case Guess::kUnknown:
        return "";
      case Guess::kCame:
        return "came";
      case Guess::kWithdrawn:
        return "withdrawn";
      case Guess::kElsewhere:
        return "elsewhere";
      case Guess::kMissed:
        return "missed";
    }
    return "";
  }

  static Shown what_is_shown(const Scene& scene) {
    const capture::Capture& capture = *scene.capture;
    return {
        scene.capture, scene.cursor, capture.counts().verdicts,
        draft_levels(capture, scene.shown_step(), scene.cursor, text_at(capture, scene.cursor))};
  }

  // Made once per cursor and state of the capture.
  const DraftLevels& shown_at(const Scene& scene) {
    if (shown_.capture != scene.capture || shown_.cursor != scene.cursor ||
        shown_.verdicts != scene.capture->counts().verdicts)
      shown_ = what_is_shown(scene);
    return shown_.drafts;
  }

  void draw_levels(Canvas& canvas, Rect area, const DraftLevels& drafts, const Scene& scene) {
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
      draw_head(canvas, {area.x + level_width + came_width, area.y, place_width, em * 1.2f},
                "place", head);
    draw_head(canvas, {chips_x, area.y, area.right() - chips_x, em * 1.2f},
              "proposed, likeliest first", head);
    list_ = {area.x, area.y + em * kLevelsHeadEm, area.w,
             std::max(1.0f, area.h - em * kLevelsHeadEm)};
    const auto fitting = static_cast<std::size_t>(std::max(1.0f, std::floor(list_.h / row)));
    const std::size_t levels = drafts.levels.size();
    scroll_ = std::min(scroll_, static_cast<float>(levels > fitting ? levels - fitting : 0));
    const std::size_t first = scene.export_mode ? 0 : static_cast<std::size_t>(scroll_);
    // The last row says how much does not fit.
    const std::size_t below = levels > first + fitting ? levels - first - fitting + 1 : 0;
    const std::size_t last = below > 0 ? first + fitting - 1 : std::min(levels, first + fitting);
    for (std::size_t i = first; i < last; ++i) {
      const DraftLevel& level = drafts.levels[i];
      const float y = list_.y + static_cast<float>(i - first) * row;
      text_in(canvas, {area.x, y, level_width, row}, std::to_string(level.level),
              dim_text(scene, 0.9f));
      draw_came(canvas, {area.x + level_width, y, came_width - em * 0.3f, row}, level, scene);
      if (with_place)
        text_in(canvas, {area.x + level_width + came_width, y, place_width, row}, place_text(level),
                dim_text(scene, 0.84f));
      draw_chips(canvas, {chips_x, y, area.right() - chips_x, row}, level, scene);
    }
    if (below > 0)
      text_in(canvas, {area.x, list_.y + static_cast<float>(last - first) * row, area.w, row},
              more_rows(below, scene, "level"), dim_text(scene, 0.8f));
  }

  static std::string place_text(const DraftLevel& level) {
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

  void draw_came(Canvas& canvas, Rect box, const DraftLevel& level, const Scene& scene) {
    const float em = scene.em;
    if (level.came < 0) return text_in(canvas, box, "…", dim_text(scene, 0.9f));
    const Mark mark = scene.theme.mark(scene.capture->state_at(level.came, scene.cursor));
    draw_glyph(canvas, mark.glyph, {box.x + em * 0.45f, box.y + box.h / 2}, em * 0.7f, mark.color);
    text_in(canvas, {box.x + em, box.y, box.w - em, box.h}, node_text(scene, level.came, 16),
            mono_text(scene, 0.9f));
    chips_.push_back({box, level.came});
  }

  void draw_chips(Canvas& canvas, Rect area, const DraftLevel& level, const Scene& scene) {
    const float em = scene.em, gap = em * 0.3f;
    float x = area.x;
    for (std::size_t i = 0; i < level.drafts.size(); ++i) {
      const StepDraft& draft = level.drafts[i];
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
      const std::string label = node_text(scene, draft.node, 12);
      const float width = em * 1.5f + canvas.measure(label, style).x;
      // The last place is kept for how many there are besides.
      const std::string rest = "+" + std::to_string(level.drafts.size() - i);
      const float kept = i + 1 < level.drafts.size() ? em * 2.6f : 0;
      if (x + width + kept > area.right()) {
        text_in(canvas, {x, area.y, area.right() - x, area.h}, rest, dim_text(scene, 0.8f));
        return;
      }
      const Rect box{x, area.y + em * 0.12f, width, area.h - em * 0.24f};
      if (came) canvas.fill_rect(box, mark.color.with_alpha(0.25f), em * 0.2f);
      if (scene.focus.node() == draft.node)
        canvas.stroke_rect(box, scene.theme.focus, 1.5f, LineStyle::kSolid, em * 0.2f);
      else
        canvas.stroke_rect(box, came ? mark.color : scene.theme.border, 1,
                           withdrawn ? LineStyle::kDashed : LineStyle::kSolid, em * 0.2f);
      draw_glyph(canvas, mark.glyph, {x + em * 0.6f, area.y + area.h / 2}, em * 0.58f, mark.color);
      text_in(canvas, {x + em * 1.1f, area.y, width - em * 1.2f, area.h}, label, style);
      chips_.push_back({box, draft.node});
      x += width + gap;
    }
  }

  Shown shown_;
  mutable LevelHistory history_;  // what it keeps of a capture is made once for all questions
  std::vector<Chip> chips_;
  Rect list_;
  float scroll_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_drafts_panel() { return std::make_unique<DraftsPanel>(); }

}  // namespace triescope::viz
