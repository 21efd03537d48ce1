#include "viz/panels/draw_table.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "viz/draw/drawing.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;
using capture::Stage;

struct DrawColumn {
  std::string title;
  std::function<float(const DrawToken&)> value;  // NaN = not recorded
  bool bar = true;
};

std::vector<DrawColumn> columns_of(const DrawDecision& decision) {
  std::vector<DrawColumn> columns;
  const std::size_t stages = decision.stages.size();
  for (std::size_t i = 0; i <= stages; ++i)
    columns.push_back(
        {i == 0 ? "p" : stage_text(decision.stages[i - 1]) + (i == stages ? " = p′" : ""),
         [i](const DrawToken& token) { return token.p[i]; }});
  const auto any = [&](float DrawToken::*member) {
    return std::any_of(decision.tokens.begin(), decision.tokens.end(),
                       [&](const DrawToken& token) { return !std::isnan(token.*member); });
  };
  if (any(&DrawToken::q)) columns.push_back({"q", [](const DrawToken& token) { return token.q; }});
  if (decision.from_rest && any(&DrawToken::drawn_p))
    columns.push_back({"residual", [](const DrawToken& token) { return token.drawn_p; }});
  if (decision.gumbel && any(&DrawToken::at))
    columns.push_back({"log p′ + Gumbel", [](const DrawToken& token) { return token.at; }, false});
  return columns;
}

bool has_strip(const DrawDecision& decision) {
  return decision.decided && !decision.gumbel && decision.u >= 0 &&
         std::any_of(decision.tokens.begin(), decision.tokens.end(),
                     [](const DrawToken& token) { return !std::isnan(token.at); });
}

const DrawToken* drawn_token(const DrawDecision& decision) {
  for (const DrawToken& token : decision.tokens)
    if (decision.token >= 0 && token.token == decision.token) return &token;
  return nullptr;
}

std::string quoted(const Scene& scene, std::int32_t token) {
  return "'" + token_text(scene.capture->piece(token), 16) + "'";
}

}  // namespace

std::string stage_text(Stage stage) {
  switch (stage) {
    case Stage::kTopH:
      return "top-H";
    case Stage::kTopK:
      return "top-k";
    case Stage::kTopP:
      return "top-p";
    case Stage::kMinP:
      return "min-p";
    case Stage::kTypicalP:
      return "typical";
    case Stage::kEpsilonCutoff:
      return "epsilon";
    case Stage::kEtaCutoff:
      return "eta";
    case Stage::kProposal:
      return "q";
    case Stage::kDrawn:
      return "drawn from";
    default:
      return capture::to_string(stage);
  }
}

std::string draw_sentence(const DrawDecision& decision, const Scene& scene) {
  if (!decision.decided) return "the accept phase comes next (F10)";
  const DrawToken* token = drawn_token(decision);
  if (!token) return "";
  std::string text = quoted(scene, token->token);
  if (decision.gumbel) return text + ": the largest log p′ + Gumbel noise";
  if (decision.u < 0) return text + ": the best";
  text += ": u " + number_text(decision.u, 3);
  if (std::isnan(token->at)) return text + " fell to it";
  return text + " lies in its " + number_text(token->at, 3) + " to " +
         number_text(token->at + token->drawn_p, 3);
}

void DrawTable::draw(Canvas& canvas, Rect area, const DrawDecision& decision,
                     const std::vector<char>& lit, const Scene& scene) {
  strip_ = {};
  const float em = scene.em, row = em * kRowEm;
  const float strip = em * 3.6f;
  const bool strips = has_strip(decision) && area.h > strip + row * 4;
  const float token_w = std::clamp(area.w * 0.2f, em * 5, em * 10);
  const float figures_x = area.x + em * 1.3f + token_w, width = area.right() - figures_x;
  auto columns = columns_of(decision);
  const auto most_columns = static_cast<std::size_t>(std::max(1.0f, width / (em * 4.6f)));
  // Where not all columns fit, the stages in the middle go first.
  while (columns.size() > most_columns && columns.size() > 1)
    columns.erase(columns.begin() + (columns.size() > 2 ? 1 : 0));
  const float cell = width / static_cast<float>(columns.size());
  const TextStyle head = dim_text(scene, 0.76f);
  draw_head(canvas, {area.x + em * 1.3f, area.y, token_w, em * 1.1f}, "token", head);
  for (std::size_t c = 0; c < columns.size(); ++c)
    draw_head(canvas,
              {figures_x + cell * static_cast<float>(c), area.y, cell - em * 0.6f, em * 1.1f},
              columns[c].title, head, Align::kRight);
  const Rect list{area.x, area.y + em * 1.2f, area.w,
                  std::max(1.0f, area.h - em * 1.2f - (strips ? strip : 0))};
  const auto fitting = static_cast<std::size_t>(std::max(1.0f, std::floor(list.h / row)));
  const std::size_t count = decision.tokens.size();
  scroll_ = std::clamp(scroll_, 0.0f, static_cast<float>(count > fitting ? count - fitting : 0));
  const std::size_t first = scene.export_mode ? 0 : static_cast<std::size_t>(scroll_);
  // The last row says how many do not fit.
  const std::size_t more = count > first + fitting ? count - first - fitting + 1 : 0;
  const std::size_t last = more > 0 ? first + fitting - 1 : count;
  rows_ = {{list.x, list.y, list.w, row * static_cast<float>(last - first)}, row, first, last};
  const Mark taken = scene.theme.mark(NodeState::kLive);
  for (std::size_t i = first; i < last; ++i) {
    const DrawToken& token = decision.tokens[i];
    const float y = list.y + static_cast<float>(i - first) * row;
    const bool drawn = token.token == decision.token;
    const bool cut = decision.stages.empty() ? false : token.p.back() == 0;
    if (drawn) {
      canvas.fill_rect({list.x, y, list.w, row}, scene.theme.accent.with_alpha(0.12f), em * 0.2f);
      draw_glyph(canvas, taken.glyph, {list.x + em * 0.6f, y + row / 2}, em * 0.72f, taken.color);
    }
    if (i < lit.size() && lit[i] != 0) draw_lit_row(canvas, {list.x, y, list.w, row}, scene);
    TextStyle mono = mono_text(scene, 0.9f);
    if (cut) mono.color = scene.theme.text_dim;
    text_in(canvas, {list.x + em * 1.3f, y, token_w - em * 0.3f, row},
            token_text(scene.capture->piece(token.token), 16), mono);
    bool gone = false;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const float value = columns[c].value(token);
      const Rect box{figures_x + cell * static_cast<float>(c), y, cell - em * 0.6f, row};
      const float figure_w = em * (columns[c].bar ? 3.2f : 4.2f);
      const Rect bar{box.x, y + row * 0.27f, box.w - figure_w, row * 0.46f};
      if (columns[c].bar && bar.w > em * 0.6f) {
        canvas.fill_rect(bar, scene.theme.grid);
        if (value > 0)
          canvas.fill_rect({bar.x, bar.y, std::max(1.0f, bar.w * std::min(1.0f, value)), bar.h},
                           drawn ? scene.theme.accent : scene.theme.text_dim);
      }
      const bool is_stage =
          columns[c].bar && columns[c].title != "q" && columns[c].title != "residual";
      const std::string figure = is_stage && value == 0 && c > 0 ? (gone ? "" : "cut")
                                 : columns[c].bar                ? number_text(value, 4)
                                                                 : logprob_text(value);
      gone = gone || (is_stage && value == 0);
      text_in(canvas, box, figure, drawn ? ui_text(scene, 0.84f) : dim_text(scene, 0.84f),
              Align::kRight);
    }
  }
  if (more > 0)
    text_in(canvas,
            {list.x + em * 1.3f, list.y + static_cast<float>(last - first) * row,
             list.w - em * 1.3f, row},
            more_rows(more, scene), dim_text(scene, 0.8f));
  if (strips) draw_strip(canvas, {area.x, area.bottom() - strip, area.w, strip}, decision, scene);
}

// The unit interval in the order of the draw, which is by token id. Parts that were not recorded
// stay bare.
void DrawTable::draw_strip(Canvas& canvas, Rect area, const DrawDecision& decision,
                           const Scene& scene) {
  const float em = scene.em;
  strip_ = {area.x, area.y + em * 1.3f, area.w, em * 1.2f};
  const auto px = [&](float share) { return strip_.x + strip_.w * std::clamp(share, 0.0f, 1.0f); };
  canvas.fill_rect(strip_, scene.theme.grid);
  int index = 0;
  for (const DrawToken& token : decision.tokens) {
    if (std::isnan(token.at) || !(token.drawn_p > 0)) continue;
    const bool drawn = token.token == decision.token;
    const Rect part{px(token.at), strip_.y, px(token.at + token.drawn_p) - px(token.at), strip_.h};
    canvas.fill_rect(part, drawn ? scene.theme.accent
                                 : scene.theme.series(3).with_alpha(index++ % 2 ? 0.35f : 0.55f));
    const std::string label = token_text(scene.capture->piece(token.token), 12);
    const TextStyle style = mono_text(scene, 0.8f);
    // Letters stand below the strip, because a fill would make them hard to read.
    if (part.w > canvas.measure(label, style).x + em * 0.3f)
      text_in(canvas, {part.x, strip_.bottom(), part.w, em * 1.1f}, label, style, Align::kCenter);
    canvas.line({part.x, part.y}, {part.x, part.bottom()}, scene.theme.background, 1);
  }
  const float u = px(decision.u);
  canvas.line({u, strip_.y - em * 0.25f}, {u, strip_.bottom() + em * 0.1f}, scene.theme.text, 2);
  const std::string label = "u = " + number_text(decision.u, 3);
  const float width = canvas.measure(label, bold_text(scene, 0.84f)).x + 2;
  text_in(canvas,
          {std::clamp(u - width / 2, area.x, std::max(area.x, area.right() - width)), area.y, width,
           em * 1.1f},
          label, bold_text(scene, 0.84f));
}

void DrawTable::scroll(const Input& in, const DrawDecision& decision) {
  if (!in.inside || in.wheel == 0) return;
  scroll_ = std::clamp(scroll_ - in.wheel * 2, 0.0f, static_cast<float>(decision.tokens.size()));
}

void DrawTable::input(const Input& in, const DrawDecision& decision, const Scene& scene,
                      Reaction& reaction) const {
  const DrawToken* token = nullptr;
  if (rows_.row > 0 && rows_.area.contains(in.mouse)) {
    const std::size_t i =
        rows_.first + static_cast<std::size_t>((in.mouse.y - rows_.area.y) / rows_.row);
    if (i < std::min(rows_.last, decision.tokens.size())) token = &decision.tokens[i];
  } else if (strip_.w > 0 && strip_.contains(in.mouse)) {
    const float share = (in.mouse.x - strip_.x) / strip_.w;
    for (const DrawToken& one : decision.tokens)
      if (!std::isnan(one.at) && share >= one.at && share < one.at + one.drawn_p) token = &one;
    if (!token) reaction.tooltip = {"other tokens, not recorded one by one"};
  }
  if (!token) return;
  const bool drawn = token->token == decision.token;
  const std::int32_t node = drawn && decision.child >= 0 ? decision.child : decision.node;
  reaction.hover = node;
  if (in.clicked) reaction.lock = node;
  reaction.tooltip = {"token " + std::to_string(token->token) + "  " +
                      token_text(scene.capture->piece(token->token), 60)};
  for (const DrawColumn& column : columns_of(decision)) {
    const float value = column.value(*token);
    const std::string name = column.title == "p" ? "p (model)" : column.title;
    if (!std::isnan(value))
      reaction.tooltip.push_back(name + ": " +
                                 (column.bar ? number_text(value, 6) : logprob_text(value)));
  }
  if (!decision.gumbel && !std::isnan(token->at) && token->drawn_p > 0)
    reaction.tooltip.push_back("drawn where u lies in " + number_text(token->at, 4) + " to " +
                               number_text(token->at + token->drawn_p, 4) +
                               " (running sum in the order of token ids)");
  if (drawn) reaction.tooltip.push_back("chosen: " + draw_sentence(decision, scene));
}

}  // namespace triescope::viz
