#include "viz/panels/candidate_table.h"

#include <algorithm>
#include <cmath>

#include "viz/draw/drawing.h"
#include "viz/query/beam_decision.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

bool took_by(const capture::CandidateRow& row, const RowSource& source, const Scene& scene,
             capture::Tick cursor) {
  return row.chosen || child_of(*scene.capture, row.node, row.token, cursor, source.whose) >= 0;
}

// True if the row is new, or its token has just become a child.
bool is_lit(const capture::CandidateRow& row, const RowSource& source, const Scene& scene) {
  return scene.lights() &&
         (scene.lights(row.tick) || (took_by(row, source, scene, scene.cursor) &&
                                     !took_by(row, source, scene, scene.lit_from)));
}

}  // namespace

bool CandidateTable::took(const capture::CandidateRow& row, const RowSource& source,
                          const Scene& scene) {
  return took_by(row, source, scene, scene.cursor);
}

void CandidateTable::draw(Canvas& canvas, Rect whole, std::span<const capture::CandidateRow> rows,
                          const RowSource& source, const Scene& scene) {
  const float em = scene.em;
  const float row = em * kRowEm, token = std::min(em * 9, whole.w * 0.42f);
  const bool logs = whole.w > em * 18;
  const float p_width = em * 3.6f, log_width = logs ? em * 4 : 0;
  const TextStyle head = dim_text(scene, 0.76f);
  const float p_x = whole.right() - log_width - p_width;
  draw_head(canvas, {whole.x + em * 1.2f, whole.y, token, em * 1.1f}, "token", head);
  draw_head(canvas, {p_x, whole.y, p_width, em * 1.1f}, "p", head, Align::kRight);
  if (logs)
    draw_head(canvas, {whole.right() - log_width, whole.y, log_width, em * 1.1f}, "log p", head,
              Align::kRight);
  const Rect list{whole.x, whole.y + em * 1.2f, whole.w, std::max(1.0f, whole.h - em * 1.2f)};
  area_ = list;
  row_ = row;
  const auto fitting = static_cast<std::size_t>(std::max(1.0f, std::floor(list.h / row)));
  // The last row says how many do not fit.
  const std::size_t shown = rows.size() > fitting ? fitting - 1 : rows.size();
  shown_ = shown;
  double mass = 0;
  const Mark mark = scene.theme.mark(capture::NodeState::kLive);
  for (std::size_t i = 0; i < shown; ++i) {
    const capture::CandidateRow& candidate = rows[i];
    const float y = list.y + static_cast<float>(i) * row;
    const double p = std::exp(static_cast<double>(candidate.logprob));
    mass += p;
    const bool chosen = took(candidate, source, scene);
    if (is_lit(candidate, source, scene)) draw_lit_row(canvas, {list.x, y, list.w, row}, scene);
    if (chosen)
      draw_glyph(canvas, mark.glyph, {list.x + em * 0.5f, y + row / 2}, em * 0.7f, mark.color);
    text_in(canvas, {list.x + em * 1.2f, y, token - em * 0.3f, row},
            token_text(scene.capture->piece(candidate.token), 16), mono_text(scene, 0.9f));
    const float bar_x = list.x + em * 1.4f + token, bar_width = p_x - bar_x - em * 0.3f;
    if (bar_width > em) {
      canvas.fill_rect({bar_x, y + row * 0.25f, bar_width, row * 0.5f}, scene.theme.grid, 0);
      canvas.fill_rect(
          {bar_x, y + row * 0.25f, std::max(1.0f, bar_width * static_cast<float>(p)), row * 0.5f},
          chosen ? mark.color : scene.theme.text_dim, 0);
    }
    text_in(canvas, {p_x, y, p_width, row}, number_text(p, 4), dim_text(scene, 0.84f),
            Align::kRight);
    if (logs)
      text_in(canvas, {list.right() - log_width, y, log_width, row},
              logprob_text(candidate.logprob), dim_text(scene, 0.84f), Align::kRight);
  }
  const float y = list.y + static_cast<float>(shown) * row;
  if (shown < rows.size())
    text_in(canvas, {list.x + em * 1.2f, y, list.w - em * 1.2f, row},
            "+ " + std::to_string(rows.size() - shown) + " more in a taller panel",
            dim_text(scene, 0.8f));
  else if (y + row <= list.bottom())
    text_in(canvas, {list.x, y, list.w, row},
            "shown: " + number_text(mass * 100, 1) + " % of the probability; ✓ became children",
            dim_text(scene, 0.76f), Align::kRight);
}

const capture::CandidateRow* CandidateTable::at(Point mouse,
                                                std::span<const capture::CandidateRow> rows) const {
  if (row_ <= 0 || !area_.contains(mouse)) return nullptr;
  const auto i = static_cast<std::size_t>((mouse.y - area_.y) / row_);
  return i < std::min(rows.size(), shown_) ? &rows[i] : nullptr;
}

}  // namespace triescope::viz
