#include "viz/panels/level_history.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/panels/column_fit.h"
#include "viz/query/leaves.h"
#include "viz/query/step_so_far.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

constexpr float kLevelCellEm = 3.2f, kLevelRowEm = 1.35f, kLevelLabelEm = 2.6f,
                kLeastLevelCellsEm = 12;
constexpr float kLevelTitleEm = 1.4f, kLevelHeadEm = 1.4f;

bool is_known(Guess guess) { return guess != Guess::kUnknown; }

int levels_of(const std::vector<LevelGuess>& guesses) {
  int most = 0;
  for (const LevelGuess& guess : guesses) most = std::max(most, guess.level);
  return most;
}

std::string share_text(std::int32_t part, std::int32_t whole) {
  return whole == 0 ? "–" : number_text(100.0 * part / whole, 0) + " %";
}

// The interval in percent: "18 to 65".
std::string interval_text(const LevelShares& sum) {
  if (sum.reached == 0) return "";
  const ShareInterval interval = wilson_interval(sum.accepted, sum.reached);
  return number_text(100 * interval.low, 0) + " to " + number_text(100 * interval.high, 0);
}

// A figure of a level, to the right of the cells. The most important are shown if not all fit.
struct ShareColumn {
  const char* title;
  float em;
  int importance;
  std::string (*text)(const LevelShares&);
};
constexpr ShareColumn kShareColumns[] = {
    {"n", 2.2f, 4, [](const LevelShares& sum) { return std::to_string(sum.guesses); }},
    {"1st", 3.1f, 3, [](const LevelShares& sum) { return share_text(sum.first, sum.guesses); }},
    {"any", 3.1f, 2, [](const LevelShares& sum) { return share_text(sum.any, sum.guesses); }},
    {"used", 3.1f, 1, [](const LevelShares& sum) { return share_text(sum.used, sum.guesses); }},
    {"reached", 4.0f, 6, [](const LevelShares& sum) { return std::to_string(sum.reached); }},
    {"P(accept)", 4.6f, 7,
     [](const LevelShares& sum) { return share_text(sum.accepted, sum.reached); }},
    {"95 %", 4.2f, 5, interval_text},
};

// The columns that fit beside the fewest cells.
std::vector<ShareColumn> share_columns_for(float width_em) {
  std::vector<ColumnSize> sizes;
  for (const ShareColumn& column : kShareColumns) sizes.push_back({column.em, column.importance});
  const auto on = columns_that_fit(sizes, width_em - kLevelLabelEm - kLeastLevelCellsEm - 0.8f);
  std::vector<ShareColumn> columns;
  for (std::size_t i = 0; i < std::size(kShareColumns); ++i)
    if (on[i]) columns.push_back(kShareColumns[i]);
  return columns;
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

std::string guess_text(Guess guess, std::int32_t place) {
  std::string which = place == 0 ? "its first guess" : "its " + ordinal_text(place) + " guess";
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

// The guesses are built once per state of the capture. When it grows, only those that are not settled are looked
// at again.
const std::vector<LevelGuess>& LevelHistory::guesses(const capture::Capture& capture) {
  const capture::Counts counts = capture.counts();
  if (&capture == of_ && counts.steps == steps_ && counts.verdicts == verdicts_ &&
      counts.sequences == sequences_)
    return guesses_;
  auto text = text_at(capture, capture.end_tick());
  // A known guess stays known while the text only grows.
  if (&capture != of_ || text.size() < text_.size() ||
      !std::equal(text_.begin(), text_.end(), text.begin()))
    guesses_.clear();
  if (&capture != of_) tallies_.clear();
  seen_at_ = -1;
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
  const std::int32_t told = tallies_.empty() ? -1 : tallies_.back().step;
  for (const capture::StepRow& row : capture.steps())
    if (row.step > told)
      for (const LevelAcceptance& level : level_acceptance(capture, row.step, capture.end_tick()))
        tallies_.push_back({row.step, level});
  return guesses_;
}

const std::vector<std::int32_t>& LevelHistory::seen_text(const Scene& scene) {
  guesses(*scene.capture);  // forgets the text that was seen of a capture that has grown
  if (seen_at_ != scene.cursor) seen_text_ = text_at(*scene.capture, scene.cursor);
  seen_at_ = scene.cursor;
  return seen_text_;
}

std::vector<LevelGuess> LevelHistory::seen(const Scene& scene) {
  const auto& text = seen_text(scene);
  std::vector<LevelGuess> all;
  for (LevelGuess guess : guesses(*scene.capture)) {
    if (guess.step > scene.shown_step()) break;
    if (!scene.in_range(guess.step)) continue;
    const auto at = static_cast<std::size_t>(guess.depth) - 1;
    if (guess.came >= 0 && (at >= text.size() || text[at] != guess.came))
      guess.came = guess.place = -1, guess.guess = Guess::kUnknown;
    all.push_back(guess);
  }
  return all;
}

std::vector<LevelShares> LevelHistory::shares(const Scene& scene) {
  std::map<std::int32_t, LevelShares> by_level;
  for (const LevelGuess& guess : seen(scene)) {
    if (!is_known(guess.guess)) continue;
    LevelShares& sum = by_level[guess.level];
    sum.level = guess.level;
    ++sum.guesses;
    sum.first += guess.place == 0;
    sum.any += guess.place >= 0;
    sum.used += guess.guess == Guess::kCame;
  }
  for (const Tally& tally : tallies_) {
    if (!scene.in_range(tally.step) || !has_decided(tally.step, scene.cursor)) continue;
    LevelShares& sum = by_level[tally.level.level];
    sum.level = tally.level.level;
    sum.reached += tally.level.reached;
    sum.accepted += tally.level.accepted;
  }
  std::vector<LevelShares> all;
  for (const auto& [level, sum] : by_level) all.push_back(sum);
  return all;
}

int LevelHistory::levels(const capture::Capture& capture) { return levels_of(guesses(capture)); }

float LevelHistory::height_em(const Scene& scene) {
  const int most = levels(*scene.capture);
  return most == 0 ? 0
                   : kLevelTitleEm + kLevelHeadEm + kLevelRowEm * static_cast<float>(most) + 0.1f;
}

void LevelHistory::draw(Canvas& canvas, Rect area, std::int32_t step, const Scene& scene) {
  const auto& all = guesses(*scene.capture);
  const float em = scene.em;
  const TextStyle small = dim_text(scene, 0.76f);
  const float top = area.y + em * kLevelTitleEm, body = top + em * kLevelHeadEm;
  const auto columns_shown = share_columns_for(area.w / em);
  float share_width = columns_shown.empty() ? 0 : em * 0.8f;
  for (const ShareColumn& column : columns_shown) share_width += column.em * em;
  levels_ = levels_of(all);
  // A difference of a thousandth of a row is rounding, not missing room.
  const int fitting =
      std::max(1, static_cast<int>((area.bottom() - body) / (em * kLevelRowEm) + 0.001f));
  const int most = std::max(0, levels_ - fitting);
  scroll_ = scene.export_mode ? 0 : std::clamp(scroll_, 0.0f, static_cast<float>(most));
  const int above = static_cast<int>(scroll_);
  // The last row says how many do not fit.
  const int hidden = levels_ > above + fitting ? levels_ - above - fitting + 1 : 0;
  const int last_level = hidden > 0 ? above + fitting - 1 : std::min(levels_, above + fitting);
  body_ = {area.x, body, area.w, std::max(1.0f, area.bottom() - body)};
  const int columns = std::max(
      1, static_cast<int>((area.w - em * kLevelLabelEm - share_width) / (em * kLevelCellEm)));
  // The last column is the last token that the shown step's drafts reach.
  std::int32_t first = INT32_MAX, last = 0, of_step = 0;
  for (const LevelGuess& guess : all) {
    if (!scene.in_range(guess.step)) continue;
    first = std::min(first, guess.depth);
    last = std::max(last, guess.depth);
    if (guess.step <= step) of_step = std::max(of_step, guess.depth);
  }
  if (first > last) return;
  const std::int32_t from = first;
  last = std::min(last, std::max(of_step, first + columns - 1));
  first = std::max(first, last - columns + 1);
  std::string which = "by position";
  // The title counts what the cursor has seen. Columns behind it are there, so that cells keep their places.
  if (const std::int32_t shown = std::min(last, of_step); first > from && shown >= first)
    which += " (" + std::to_string(first) + " to " + std::to_string(shown) + " of " +
             std::to_string(from) + " to " + std::to_string(of_step) + ")";
  text_in(canvas, {area.x, area.y, area.w, em * 1.2f},
          which +
              ": the place each level gave the token that came   ✓ verified   dashed: not on the "
              "drafted path, w: withdrawn   ✕ not proposed",
          dim_text(scene, 0.8f));
  const float cells_x = area.x + em * kLevelLabelEm;
  cells_ = {{cells_x, body, em * kLevelCellEm * static_cast<float>(last - first + 1),
             em * kLevelRowEm * static_cast<float>(last_level - above)},
            em * kLevelCellEm,
            em * kLevelRowEm,
            first,
            above + 1};
  const auto column_x = [&](std::int32_t depth) {
    return cells_x + em * kLevelCellEm * static_cast<float>(depth - first);
  };
  const auto row_y = [&](std::int32_t level) {
    return body + em * kLevelRowEm * static_cast<float>(level - 1 - above);
  };
  const auto is_in_sight = [&](std::int32_t level) { return level > above && level <= last_level; };
  draw_head(canvas, {area.x, top, em * kLevelLabelEm, em * 1.3f}, "came", small);
  const auto& text = seen_text(scene);
  for (std::int32_t depth = first; depth <= last; ++depth)
    if (depth >= 1 && static_cast<std::size_t>(depth) <= text.size())
      text_in(canvas, {column_x(depth) + em * 0.1f, top, em * (kLevelCellEm - 0.45f), em * 1.3f},
              node_text(scene, text[static_cast<std::size_t>(depth) - 1], 12),
              mono_text(scene, 0.78f));
  for (int level = above + 1; level <= last_level; ++level)
    text_in(canvas, {area.x, row_y(level), em * kLevelLabelEm, em * kLevelRowEm},
            std::to_string(level), small);
  for (const LevelGuess& guess : seen(scene)) {
    if (guess.depth < first || guess.depth > last || !is_in_sight(guess.level)) continue;
    draw_cell(canvas,
              {column_x(guess.depth), row_y(guess.level), em * kLevelCellEm, em * kLevelRowEm},
              guess, guess.step == step, scene);
  }
  if (hidden > 0)
    text_in(canvas, {area.x, row_y(last_level + 1), area.w, em * kLevelRowEm},
            more_rows(static_cast<std::size_t>(hidden), scene, "level"), dim_text(scene, 0.8f));
  if (columns_shown.empty()) return;
  const auto sums = shares(scene);
  float x = area.right() - share_width + em * 0.8f;
  for (const ShareColumn& column : columns_shown) {
    const float width = column.em * em;
    draw_head(canvas, {x, top, width, em * 1.3f}, column.title, small, Align::kRight);
    for (const LevelShares& sum : sums)
      if (is_in_sight(sum.level))
        text_in(canvas, {x, row_y(sum.level), width, em * kLevelRowEm}, column.text(sum),
                dim_text(scene, 0.84f), Align::kRight);
    x += width;
  }
}

void LevelHistory::input(const Input& in, const Scene& scene, Reaction& reaction) {
  if (in.wheel != 0 && body_.contains(in.mouse))
    scroll_ = std::clamp(scroll_ - in.wheel, 0.0f, static_cast<float>(levels_));
  if (cells_.width <= 0 || !cells_.area.contains(in.mouse)) return;
  const auto depth =
      cells_.first_depth + static_cast<std::int32_t>((in.mouse.x - cells_.area.x) / cells_.width);
  const auto level =
      cells_.first_level + static_cast<std::int32_t>((in.mouse.y - cells_.area.y) / cells_.height);
  for (const LevelGuess& guess : seen(scene)) {
    if (guess.depth != depth || guess.level != level) continue;
    if (guess.came >= 0) reaction.hover = guess.came;
    reaction.tooltip = {
        "step " + std::to_string(guess.step) + ", level " + std::to_string(guess.level),
        guess.came >= 0 ? node_summary(scene, guess.came)
                        : "position of token " + std::to_string(guess.depth),
        guess_text(guess.guess, guess.place), "click: go to that step"};
    for (const LevelShares& sum : shares(scene)) {
      if (sum.level != level) continue;
      const std::string name = "level " + std::to_string(level);
      std::vector<std::string> lines = {
          name + " in " + std::to_string(sum.guesses) + " comparisons: first " +
          share_text(sum.first, sum.guesses) + ", proposed " + share_text(sum.any, sum.guesses) +
          ", verified and used " + share_text(sum.used, sum.guesses)};
      if (sum.reached > 0)
        lines.push_back(
            "P(" + name + " accepted" +
            (level > 1 ? " | level " + std::to_string(level - 1) + " accepted" : std::string()) +
            ") = " + std::to_string(sum.accepted) + " of " + std::to_string(sum.reached) + " = " +
            share_text(sum.accepted, sum.reached) + ", 95 % interval " + interval_text(sum) + " %");
      reaction.tooltip.insert(reaction.tooltip.begin() + 3, lines.begin(), lines.end());
    }
    if (in.clicked) {
      reaction.cursor = std::min(scene.capture->end_tick(),
                                 capture::make_tick(guess.step + 1, capture::Phase::kDraft));
      if (guess.came >= 0) reaction.lock = guess.came;
    }
    return;
  }
}

}  // namespace triescope::viz
