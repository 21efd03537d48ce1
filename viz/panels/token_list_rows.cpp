#include "viz/panels/token_list_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

constexpr float kListRowEm = 1.45f, kFootEm = 0.5f, kListTitleEm = 6.2f, kListGapEm = 0.18f,
                kCutEm = 1.2f, kLetters = 0.84f;
constexpr int kMostChars = 14;

std::string cell_text(const TokenList::Token& token, const Scene& scene) {
  return token_text(scene.capture->piece(token.token), kMostChars);
}

float cell_width(Canvas& canvas, const TokenList::Token& token, const Scene& scene) {
  return canvas.measure(cell_text(token, scene), mono_text(scene, kLetters)).x + scene.em * 0.5f;
}

// By table the widths of its columns.
using Columns = std::map<std::string_view, std::vector<float>>;
Columns columns_of(Canvas& canvas, const std::vector<TokenList>& lists, const Scene& scene) {
  Columns columns;
  for (const TokenList& list : lists) {
    std::vector<float>& widths = columns[list.table()];
    widths.resize(std::max(widths.size(), list.tokens.size()));
    for (std::size_t i = 0; i < list.tokens.size(); ++i)
      widths[i] = std::max(widths[i], cell_width(canvas, list.tokens[i], scene));
  }
  return columns;
}

// The first token that is drawn: where the row has no room for all, what stands before a match gives way.
std::size_t first_shown(const TokenList& list, const std::vector<float>& widths, float room,
                        const Scene& scene) {
  const auto matched = std::ranges::find(list.tokens, true, &TokenList::Token::matched);
  if (matched == list.tokens.end()) return 0;
  const auto before = static_cast<std::size_t>(matched - list.tokens.begin());
  float width = 0;
  for (std::size_t i = 0; i < list.tokens.size(); ++i) width += widths[i] + scene.em * kListGapEm;
  std::size_t first = 0;
  for (; first < before && width > room - (first > 0 ? scene.em * kCutEm : 0); ++first)
    width -= widths[first] + scene.em * kListGapEm;
  return first;
}

float title_width(float width, const Scene& scene) {
  return std::min(scene.em * kListTitleEm, width * 0.3f);
}

std::string place_text(const FoundMatch& match) {
  std::string text = counted(match.tokens, "token") + " matched";
  if (match.place >= 0) text += " at token " + std::to_string(match.place);
  if (match.count > 0) text += "; the first draft follows in " + counted(match.count, "place");
  return text;
}

float rows_of(const TokenList& list) {
  return list.match.tokens > 0 ? 2 * kListRowEm - 0.3f : kListRowEm;
}

}  // namespace

float TokenListRows::height_em(const std::vector<TokenList>& lists) {
  float height = lists.empty() ? 0 : kFootEm;
  for (const TokenList& list : lists) height += rows_of(list);
  return height;
}

float TallestLists::height_em(const capture::Capture& capture) {
  if (&capture != of_) of_ = &capture, done_ = 0, seen_ = -1, most_em_ = 0;
  if (std::exchange(seen_, capture.end_tick()) == capture.end_tick()) return most_em_;
  for (std::int32_t step = done_; step <= capture.last_step(); ++step)
    most_em_ = std::max(most_em_,
                        TokenListRows::height_em(token_lists(capture, step, capture.end_tick())));
  done_ = std::max(0, capture.last_step());
  return most_em_;
}

void TokenListRows::clear() { boxes_.clear(); }

void TokenListRows::draw(Canvas& canvas, Rect area, const std::vector<TokenList>& lists,
                         const Scene& scene) {
  const float em = scene.em, row = em * kListRowEm;
  const Columns columns = columns_of(canvas, lists, scene);
  float y = area.y;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    // A row is kept for how many are left.
    const float kept = i + 1 < lists.size() ? row : 0;
    if (y + em * rows_of(lists[i]) + kept > area.bottom() + 0.5f) {
      if (y + row <= area.bottom() + 0.5f)
        text_in(canvas, {area.x, y, area.w, row},
                "+ " + counted(lists.size() - i, "row") + " more in a taller panel",
                dim_text(scene, 0.8f));
      return;
    }
    draw_list(canvas, {area.x, y, area.w, row}, lists[i], columns.at(lists[i].table()), scene);
    if (lists[i].match.tokens > 0) {
      const float left = title_width(area.w, scene);
      text_in(canvas,
              {area.x + left + em * 0.25f, y + row - em * 0.1f, area.w - left - em * 0.25f, em},
              place_text(lists[i].match), dim_text(scene, 0.78f));
    }
    y += em * rows_of(lists[i]);
  }
}

void TokenListRows::draw_list(Canvas& canvas, Rect row, const TokenList& list,
                              const std::vector<float>& widths, const Scene& scene) {
  const float em = scene.em;
  const std::string from = list.title + ": where drafts of this step come from";
  const std::string place = list.match.tokens > 0 ? place_text(list.match) : "";
  const Rect title{row.x, row.y, title_width(row.w, scene), row.h};
  text_in(canvas, {title.x, title.y, title.w - em * 0.4f, title.h}, list.title,
          dim_text(scene, 0.84f));
  boxes_.push_back({title, -1, {from}, place});
  float x = title.right();
  const std::size_t first = first_shown(list, widths, row.right() - x, scene);
  if (first > 0) {
    text_in(canvas, {x, row.y, em * kCutEm, row.h}, "…", dim_text(scene, kLetters));
    x += em * kCutEm;
  }
  for (std::size_t i = first; i < list.tokens.size(); ++i) {
    const TokenList::Token& token = list.tokens[i];
    const float width = widths[i];
    const float kept = i + 1 < list.tokens.size() ? em * kCutEm : 0;
    if (x + width + kept > row.right()) {
      text_in(canvas, {x, row.y, row.right() - x, row.h}, "…", dim_text(scene, kLetters));
      return;
    }
    const Rect box{x, row.y + em * 0.1f, width, row.h - em * 0.2f};
    TextStyle style = mono_text(scene, kLetters);
    const bool is_draft =
        token.node > 0 &&
        capture::is_draft(scene.capture->nodes()[static_cast<std::size_t>(token.node)]) &&
        !token.matched;
    if (token.matched) {
      canvas.fill_rect(box, scene.theme.focus.with_alpha(0.24f), em * 0.15f);
    } else if (is_draft) {
      const NodeState state = scene.capture->state_at(token.node, scene.cursor);
      const Mark mark = scene.theme.mark(state);
      const bool is_text = !capture::is_dead(state) && state != NodeState::kPending;
      if (is_text) canvas.fill_rect(box, mark.color.with_alpha(0.25f), em * 0.2f);
      canvas.stroke_rect(box, is_text ? mark.color : scene.theme.border, 1, LineStyle::kSolid,
                         em * 0.2f);
      if (capture::is_dead(state)) style.color = scene.theme.text_dim;
    } else if (token.node < 0) {
      style.color = scene.theme.text_dim;
    }
    if (token.node >= 0 && scene.focus.node() == token.node)
      canvas.stroke_rect(box, scene.theme.focus, 1.5f, LineStyle::kSolid, em * 0.2f);
    text_in(canvas, {box.x + em * 0.25f, row.y, width - em * 0.5f, row.h}, cell_text(token, scene),
            style);
    boxes_.push_back({box,
                      token.node,
                      {from, "token " + std::to_string(token.token) + "  " +
                                 token_text(scene.capture->piece(token.token))},
                      place});
    x += width + em * kListGapEm;
  }
}

bool TokenListRows::input(const Input& in, const Scene& scene, Reaction& reaction) const {
  for (const Box& box : boxes_) {
    if (!box.box.contains(in.mouse)) continue;
    if (box.node >= 0) {
      reaction.hover = box.node;
      if (in.clicked) reaction.lock = box.node;
      reaction.tooltip = node_tooltip(scene, box.node);
    } else {
      reaction.tooltip = box.words;
    }
    if (!box.place.empty()) reaction.tooltip.push_back(box.place);
    return true;
  }
  return false;
}

}  // namespace triescope::viz
