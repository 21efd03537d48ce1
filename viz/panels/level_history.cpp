#include "viz/panels/level_history.h"

#include <algorithm>
#include <map>
#include <utility>

#include "viz/look/drawing.h"
#include "viz/look/node_text.h"
#include "viz/words/number_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

constexpr float kCellEm = 3.2f, kRowEm = 1.35f, kLevelLabelEm = 2.6f, kShareEm = 3.1f;
constexpr int kShares = 3;

bool is_known(Guess guess) { return guess != Guess::kUnknown; }

int levels_of(const std::vector<LevelGuess>& guesses) {
  int most = 0;
  for (const LevelGuess& guess : guesses) most = std::max(most, guess.level);
  return most;
}

std::string share_text(std::int32_t part, std::int32_t whole) {
  return whole == 0 ? "–" : number_text(100.0 * part / whole, 0) + " %";
}

void draw_cell(Canvas& canvas, Rect cell, const LevelGuess& guess, bool current,
               const Scene& scene) {
  const float em = scene.em;
  const Rect box = cell.inset(em * 0.09f);
  const Mark came = scene.theme.mark(NodeState::kAccepted);
  const Mark missed = scene.theme.mark(NodeState::kRejected);
  const std::string place = std::to_string(guess.place + 1);
  switch (guess.guess) {
    case Guess::kUnknown:
      canvas.stroke_rect(box, scene.theme.grid, 1, LineStyle::kDotted, em * 0.15f);
      break;
    case Guess::kMissed:
      canvas.fill_rect(box, scene.theme.grid, em * 0.15f);
      draw_glyph(canvas, missed.glyph, {cell.x + cell.w / 2, cell.y + cell.h / 2}, em * 0.6f,
                 missed.color);
      break;
    case Guess::kCame:
      canvas.fill_rect(box, came.color.with_alpha(0.3f), em * 0.15f);
      draw_glyph(canvas, came.glyph, {box.x + em * 0.55f, cell.y + cell.h / 2}, em * 0.6f,
                 scene.theme.legible(came.color));
      text_in(canvas, {box.x + em * 0.95f, cell.y, box.w - em * 1.1f, cell.h}, place,
              bold_text(scene, 0.8f));
      break;
    case Guess::kWithdrawn:
    case Guess::kElsewhere:
      canvas.stroke_rect(box, scene.theme.text_dim, 1, LineStyle::kDashed, em * 0.15f);
      text_in(canvas, cell, guess.guess == Guess::kWithdrawn ? place + " w" : place,
              dim_text(scene, 0.8f), Align::kCenter);
      break;
  }
  if (current && (!scene.export_mode || scene.series))
    canvas.stroke_rect(cell, scene.theme.current, 1.5f, LineStyle::kSolid, em * 0.15f);
}

}  // namespace

std::string ordinal_text(std::int32_t place) {
  const std::int32_t n = place + 1, tens = n % 100;
  const char* ending = tens >= 11 && tens <= 13 ? "th"
                       : n % 10 == 1            ? "st"
                       : n % 10 == 2            ? "nd"
                       : n % 10 == 3            ? "rd"
                                                : "th";
  return std::to_string(n) + ending;
}

std::string guess_text(Guess guess, std::int32_t place) {
  const std::string which =
      place == 0 ? "its first guess" : "its " + ordinal_text(place) + " guess";
  switch (guess) {
    case Guess::kUnknown:
      return "no token has come there yet";
    case Guess::kCame:
      return which;
    case Guess::kWithdrawn:
      return which + ", withdrawn before the forward";
    case Guess::kElsewhere:
      return which + ", but below other tokens than those that came";
    case Guess::kMissed:
      return "not among its guesses";
  }
  return "";
}

// Made once per state of the capture; of steps that grow, only what is not settled is looked at again.
const std::vector<LevelGuess>& LevelHistory::guesses(const capture::Capture& capture) {
  const capture::Counts counts = capture.counts();
  if (&capture == of_ && counts.steps == steps_ && counts.verdicts == verdicts_ &&
      counts.sequences == sequences_)
    return guesses_;
  auto text = text_at(capture, capture.end_tick());
  // A guess that is known stays known as long as the text only grows.
  if (&capture != of_ || text.size() < text_.size() ||
      !std::equal(text_.begin(), text_.end(), text.begin()))
    guesses_.clear();
  text_ = std::move(text);
  of_ = &capture;
  steps_ = counts.steps;
  verdicts_ = counts.verdicts;
  sequences_ = counts.sequences;
  const auto open = std::find_if(guesses_.begin(), guesses_.end(),
                                 [](const LevelGuess& guess) { return !is_known(guess.guess); });
  const std::int32_t from =
      open == guesses_.end() ? (guesses_.empty() ? 0 : guesses_.back().step + 1) : open->step;
  guesses_.erase(std::find_if(guesses_.begin(), guesses_.end(),
                              [&](const LevelGuess& guess) { return guess.step >= from; }),
                 guesses_.end());
  for (const capture::StepRow& row : capture.steps()) {
    if (row.step < from) continue;
    for (const DraftLevel& level :
         draft_levels(capture, row.step, capture.end_tick(), text_).levels)
      guesses_.push_back(
          {row.step, level.level, level.depth, level.came, level.guess, level.place});
  }
  return guesses_;
}

std::vector<LevelShares> LevelHistory::shares(const Scene& scene) {
  std::map<std::int32_t, LevelShares> by_level;
  for (const LevelGuess& guess : guesses(*scene.capture)) {
    if (!is_known(guess.guess) || !scene.in_range(guess.step)) continue;
    LevelShares& sum = by_level[guess.level];
    sum.level = guess.level;
    ++sum.guesses;
    sum.first += guess.place == 0;
    sum.any += guess.place >= 0;
    sum.used += guess.guess == Guess::kCame;
  }
  std::vector<LevelShares> all;
  for (const auto& [level, sum] : by_level) all.push_back(sum);
  return all;
}

float LevelHistory::height_em(const Scene& scene) {
  const int levels = levels_of(guesses(*scene.capture));
  return levels == 0 ? 0 : 2.9f + kRowEm * static_cast<float>(levels);
}

void LevelHistory::draw(Canvas& canvas, Rect area, std::int32_t step, const Scene& scene) {
  const auto& all = guesses(*scene.capture);
  const float em = scene.em;
  const TextStyle small = dim_text(scene, 0.76f);
  text_in(
      canvas, {area.x, area.y, area.w, em * 1.2f},
      "by position: the place each level gave the token that came   ✓ verified   dashed: not on "
      "the drafted path, w: withdrawn   ✕ not proposed",
      dim_text(scene, 0.8f));
  const float top = area.y + em * 1.4f, body = top + em * 1.4f;
  const bool with_shares = area.w > em * 30;
  const float share_width = with_shares ? em * kShareEm * kShares + em * 0.8f : 0;
  const int levels =
      std::min(levels_of(all), static_cast<int>((area.bottom() - body) / (em * kRowEm)));
  const int columns =
      std::max(1, static_cast<int>((area.w - em * kLevelLabelEm - share_width) / (em * kCellEm)));
  // The columns end with the last token that the shown step's drafts reach for.
  std::int32_t first = INT32_MAX, last = 0, of_step = 0;
  for (const LevelGuess& guess : all) {
    if (!scene.in_range(guess.step)) continue;
    first = std::min(first, guess.depth);
    last = std::max(last, guess.depth);
    if (guess.step <= step) of_step = std::max(of_step, guess.depth);
  }
  if (first > last) return;
  last = std::min(last, std::max(of_step, first + columns - 1));
  first = std::max(first, last - columns + 1);
  const float cells_x = area.x + em * kLevelLabelEm;
  cells_ = {{cells_x, body, em * kCellEm * static_cast<float>(last - first + 1),
             em * kRowEm * static_cast<float>(levels)},
            em * kCellEm,
            em * kRowEm,
            first};
  const auto column_x = [&](std::int32_t depth) {
    return cells_x + em * kCellEm * static_cast<float>(depth - first);
  };
  draw_head(canvas, {area.x, top, em * kLevelLabelEm, em * 1.3f}, "came", small);
  for (std::int32_t depth = first; depth <= last; ++depth)
    if (depth >= 1 && static_cast<std::size_t>(depth) <= text_.size())
      text_in(canvas, {column_x(depth) + em * 0.1f, top, em * (kCellEm - 0.2f), em * 1.3f},
              node_text(scene, text_[static_cast<std::size_t>(depth) - 1], 12),
              mono_text(scene, 0.78f));
  for (int level = 1; level <= levels; ++level)
    text_in(canvas,
            {area.x, body + em * kRowEm * static_cast<float>(level - 1), em * kLevelLabelEm,
             em * kRowEm},
            std::to_string(level), small);
  for (const LevelGuess& guess : all) {
    if (guess.depth < first || guess.depth > last || guess.level > levels ||
        !scene.in_range(guess.step))
      continue;
    draw_cell(canvas,
              {column_x(guess.depth), body + em * kRowEm * static_cast<float>(guess.level - 1),
               em * kCellEm, em * kRowEm},
              guess, guess.step == step, scene);
  }
  if (!with_shares) return;
  const float x = area.right() - em * kShareEm * kShares;
  const char* const titles[kShares] = {"1st", "any", "used"};
  for (int i = 0; i < kShares; ++i)
    draw_head(canvas, {x + em * kShareEm * static_cast<float>(i), top, em * kShareEm, em * 1.3f},
              titles[i], small, Align::kRight);
  for (const LevelShares& sum : shares(scene)) {
    if (sum.level > levels) continue;
    const std::int32_t parts[kShares] = {sum.first, sum.any, sum.used};
    const float y = body + em * kRowEm * static_cast<float>(sum.level - 1);
    for (int i = 0; i < kShares; ++i)
      text_in(canvas, {x + em * kShareEm * static_cast<float>(i), y, em * kShareEm, em * kRowEm},
              share_text(parts[i], sum.guesses), dim_text(scene, 0.84f), Align::kRight);
  }
}

void LevelHistory::input(const Input& in, const Scene& scene, Reaction& reaction) {
  if (cells_.width <= 0 || !cells_.area.contains(in.mouse)) return;
  const auto depth =
      cells_.first_depth + static_cast<std::int32_t>((in.mouse.x - cells_.area.x) / cells_.width);
  const auto level = 1 + static_cast<std::int32_t>((in.mouse.y - cells_.area.y) / cells_.height);
  for (const LevelGuess& guess : guesses(*scene.capture)) {
    if (guess.depth != depth || guess.level != level || !scene.in_range(guess.step)) continue;
    if (guess.came >= 0) reaction.hover = guess.came;
    reaction.tooltip = {
        "step " + std::to_string(guess.step) + ", level " + std::to_string(guess.level),
        guess.came >= 0 ? node_summary(scene, guess.came)
                        : "position of token " + std::to_string(guess.depth),
        guess_text(guess.guess, guess.place), "click: go to that step"};
    for (const LevelShares& sum : shares(scene))
      if (sum.level == level)
        reaction.tooltip.insert(reaction.tooltip.begin() + 3,
                                "level " + std::to_string(level) + " in " +
                                    std::to_string(sum.guesses) + " comparisons" + ": first " +
                                    share_text(sum.first, sum.guesses) + ", proposed " +
                                    share_text(sum.any, sum.guesses) + ", verified and used " +
                                    share_text(sum.used, sum.guesses));
    if (in.clicked) {
      reaction.cursor = std::min(scene.capture->end_tick(),
                                 capture::make_tick(guess.step + 1, capture::Phase::kDraft));
      if (guess.came >= 0) reaction.lock = guess.came;
    }
    return;
  }
}

}  // namespace triescope::viz
