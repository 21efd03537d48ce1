#include "viz/panels/acceptance_rows.h"

#include <algorithm>
#include <sstream>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/layouts/axis.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

constexpr float kBarEm = 1.55f, kAxisEm = 2.5f, kNoteEm = 1.2f;

std::string percent(double share) { return number_text(100 * share, 0) + " %"; }

std::string counts_of(const AcceptanceGroup& group) {
  return percent(group.share()) + "  " + std::to_string(group.accepted) + " of " +
         std::to_string(group.n);
}

// The first case after the cursor's step that is (not) accepted; at the end it begins again.
const AcceptanceCase* next_case(const AcceptanceGroup& group, bool accepted, std::int32_t step) {
  const auto wanted = [&](const AcceptanceCase& one) { return one.accepted == accepted; };
  const auto later =
      std::find_if(group.cases.begin(), group.cases.end(),
                   [&](const AcceptanceCase& one) { return one.step > step && wanted(one); });
  if (later != group.cases.end()) return &*later;
  const auto first = std::find_if(group.cases.begin(), group.cases.end(), wanted);
  return first == group.cases.end() ? nullptr : &*first;
}

}  // namespace

float AcceptanceRows::height_em(std::size_t groups) {
  return kBarEm * static_cast<float>(groups) + kAxisEm;
}

void AcceptanceRows::draw(Canvas& canvas, Rect area, AcceptanceBy by, const Acceptance& acceptance,
                          const Scene& scene) {
  bars_.clear();
  const float em = scene.em, row = em * kBarEm;
  const TextStyle label = ui_text(scene, 0.86f), small = dim_text(scene, 0.8f);
  const auto& groups = acceptance.groups;
  float names = em * 2, figures = em * 4;
  for (const AcceptanceGroup& group : groups) {
    names = std::max(names, canvas.measure(group.label, label).x);
    figures = std::max(figures, canvas.measure(counts_of(group), small).x);
  }
  names = std::min(names, area.w * 0.3f);
  figures = std::min(figures, area.w * 0.35f);
  // A low pane has no axis, only the line that counts what is left out.
  const bool has_axis = area.h + 1 >= em * height_em(std::min<std::size_t>(groups.size(), 2));
  const Rect plot{area.x + names + em * 0.7f, area.y,
                  std::max(1.0f, area.w - names - figures - em * 1.6f),
                  std::max(0.0f, area.h - em * (has_axis ? kAxisEm : kNoteEm))};
  const AxisScale x{0, 1, plot.x, plot.right()};
  // A px less than a bar's height still takes the bar.
  const std::size_t fit = std::min(groups.size(), static_cast<std::size_t>((plot.h + 1) / row));
  scroll_ = std::clamp(scroll_, 0.0f, static_cast<float>(groups.size() - fit));
  const auto first = static_cast<std::size_t>(scroll_);
  const float bottom = plot.y + row * static_cast<float>(fit);
  for (const double tick : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    canvas.line({x.px(tick), plot.y}, {x.px(tick), bottom}, scene.theme.grid, 1);
    if (has_axis)
      draw_x_label(canvas, x.px(tick), bottom + em * 0.1f, em * 1.1f, area.x, area.right(),
                   number_text(100 * tick, 0) + (tick == 1 ? " %" : ""), small);
  }
  const Color color =
      scene.theme
          .mark(is_of_causes(by) ? capture::NodeState::kRejected : capture::NodeState::kAccepted)
          .color;
  for (std::size_t i = 0; i < fit; ++i) {
    const AcceptanceGroup& group = groups[first + i];
    const float top = plot.y + row * static_cast<float>(i), middle = top + row / 2;
    text_in(canvas, {area.x, top, names, row}, fit_text(canvas, group.label, label, names), label,
            Align::kRight);
    canvas.fill_rect({plot.x, top + row * 0.2f, x.px(group.share()) - plot.x, row * 0.6f},
                     color.with_alpha(0.55f));
    const ShareInterval interval = group.interval();
    canvas.line({x.px(interval.low), middle}, {x.px(interval.high), middle}, scene.theme.text,
                1.5f);
    for (const double end : {interval.low, interval.high})
      canvas.line({x.px(end), middle - em * 0.22f}, {x.px(end), middle + em * 0.22f},
                  scene.theme.text, 1.5f);
    if (group.with_p) {
      const float p = x.px(group.sum_p / static_cast<double>(group.with_p));
      draw_glyph(canvas, "○", {p, middle}, em * 0.6f,
                 scene.theme.mark(capture::NodeState::kCorrected).color);
    }
    text_in(canvas, {plot.right() + em * 0.9f, top, figures, row}, counts_of(group), small);
    bars_.emplace_back(Rect{area.x, top, area.w, row}, first + i);
  }
  canvas.line({plot.x, plot.y}, {plot.x, bottom}, scene.theme.border, 1);
  const Rect last{area.x, bottom + (has_axis ? em * 1.1f : 0), area.w, em * kNoteEm};
  if (last.bottom() > area.bottom() + 1) return;
  if (fit < groups.size())
    text_in(canvas, last, more_rows(groups.size() - fit, scene, "group"), small);
  else if (has_axis)
    text_in(canvas, last,
            std::string("share ") + (is_of_causes(by) ? "of the failures" : "accepted") +
                "; the line is its 95 % interval",
            small, Align::kCenter);
}

void AcceptanceRows::input(const Input& in, AcceptanceBy by, const Acceptance& acceptance,
                           const Scene& scene, Reaction& reaction) {
  if (!in.inside) return;
  scroll_ -= in.wheel * 3;
  for (const auto& [box, index] : bars_) {
    if (!box.contains(in.mouse) || index >= acceptance.groups.size()) continue;
    const AcceptanceGroup& group = acceptance.groups[index];
    const bool causes = is_of_causes(by);
    reaction.tooltip = acceptance_group_lines(by, group);
    reaction.tooltip.emplace_back(causes ? "click: the next one"
                                         : "click: the next refused one; with Shift: accepted");
    if (!in.clicked) return;
    if (const AcceptanceCase* const one =
            next_case(group, in.shift && !causes, scene.shown_step())) {
      reaction.cursor = capture::make_tick(one->step + 1, capture::Phase::kDraft);
      reaction.lock = one->node;
    }
    return;
  }
}

std::vector<std::string> acceptance_group_lines(AcceptanceBy by, const AcceptanceGroup& group) {
  const ShareInterval interval = group.interval();
  const bool causes = is_of_causes(by);
  std::vector<std::string> lines = {
      std::string(title_of(by)) + ": " + group.label,
      std::string(causes ? "failed " : "") + (is_of_places(by) ? "places: " : "drafts: ") +
          std::to_string(group.n) + ", " + std::to_string(group.accepted) +
          (causes ? " of this cause" : " accepted"),
      percent(group.share()) + ", 95 % interval " + percent(interval.low) + " to " +
          percent(interval.high) + " (Wilson)"};
  if (group.with_p)
    lines.push_back("mean p of the target: " +
                    number_text(group.sum_p / static_cast<double>(group.with_p), 2));
  return lines;
}

std::string acceptance_headline(AcceptanceBy by) {
  std::string title = title_of(by);
  if (!is_of_causes(by)) return "Accepted, by " + title;
  title.front() = 'W';  // "why …"
  return title;
}

void drop_empty_causes(AcceptanceBy by, Acceptance& acceptance) {
  if (is_of_causes(by))
    std::erase_if(acceptance.groups, [](const AcceptanceGroup& one) { return one.accepted == 0; });
}

std::string acceptance_csv(AcceptanceBy by, const Acceptance& acceptance) {
  std::ostringstream out;
  out << "by,group,n,accepted,share,low,high,mean_p\n";
  for (const AcceptanceGroup& group : acceptance.groups) {
    const ShareInterval interval = group.interval();
    out << to_string(by) << ',' << csv_field(group.label) << ',' << group.n << ',' << group.accepted
        << ',' << csv_double(group.share()) << ',' << csv_double(interval.low) << ','
        << csv_double(interval.high) << ',';
    if (group.with_p) out << csv_double(group.sum_p / static_cast<double>(group.with_p));
    out << '\n';
  }
  return out.str();
}

std::string failures_csv(const capture::Capture& capture,
                         const std::vector<DraftFailure>& failures) {
  std::ostringstream out;
  out << "step,node,parent,token,text,cause,p,drafter_rank,drafter_q,drafter_score\n";
  for (const DraftFailure& failure : failures) {
    const std::int32_t token = capture.nodes()[static_cast<std::size_t>(failure.node)].token;
    out << failure.step << ',' << failure.node << ',' << failure.parent << ',' << token << ','
        << csv_field(plain_text(capture.piece(token))) << ',' << to_string(failure.cause) << ','
        << csv_number(failure.p) << ','
        << (failure.rank < 0 ? "" : std::to_string(failure.rank + 1)) << ','
        << csv_number(failure.q) << ',' << csv_number(failure.score) << '\n';
  }
  return out.str();
}

}  // namespace triescope::viz
