#include "viz/panels/expert_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "core/base/counted.h"
#include "viz/draw/node_text.h"
#include "viz/query/expert_use.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kExpertLayerEm = 4.6f;    // the column with the layers' numbers
constexpr float kExpertNumbersEm = 1.3f;  // the line with the experts' numbers
constexpr float kNarrowExpertPx = 2;      // px: below that a row has no part of its own
constexpr float kExpertCellEm = 2.6f, kExpertTallEm = 1.5f;  // at most
constexpr std::int32_t kMostExperts = 1 << 20;               // whatever a file says

}  // namespace

bool ExpertGrid::update(const Scene& scene) {
  nodes_.clear();
  layers_.clear();
  experts_ = 0;
  if (!scene.capture || scene.shown_step() < 0) return false;
  std::map<std::int32_t, Layer> layers;
  for (const capture::ExpertRow& row : scene.capture->experts(scene.shown_step())) {
    if (row.tick >= scene.cursor) break;
    const auto known = std::ranges::find(nodes_, row.node);
    const auto place = static_cast<std::size_t>(known - nodes_.begin());
    if (known == nodes_.end()) nodes_.push_back(row.node);
    Layer& layer = layers[row.layer];
    layer.layer = row.layer;
    for (std::size_t i = 0; i < row.experts.size(); ++i) {
      layer.choices.push_back(
          {row.experts[i], place,
           row.weights.empty() ? std::numeric_limits<float>::quiet_NaN() : row.weights[i]});
      experts_ = std::max(experts_, row.experts[i] + 1);
    }
  }
  for (auto& [number, layer] : layers) {
    std::ranges::sort(layer.choices, [](const Choice& a, const Choice& b) {
      return a.expert != b.expert ? a.expert < b.expert : a.row < b.row;
    });
    for (std::size_t i = 0; i < layer.choices.size(); ++i)
      layer.different += i == 0 || layer.choices[i].expert != layer.choices[i - 1].expert;
    layers_.push_back(std::move(layer));
  }
  experts_ = std::min(std::max(experts_, mixture_size(*scene.capture).experts), kMostExperts);
  return !layers_.empty() && experts_ > 0;
}

Point ExpertGrid::size_em() const {
  const float columns = static_cast<float>(std::clamp(experts_, 4, 160));
  const float cell = std::clamp(60 / columns, 0.6f, kExpertCellEm);
  return {kExpertLayerEm + columns * cell,
          kExpertNumbersEm +
              static_cast<float>(std::min<std::size_t>(layers_.size(), 80)) * kExpertTallEm};
}

Color ExpertGrid::color_of(std::size_t row, const Scene& scene) const {
  const capture::NodeView view = scene.capture->node_at(nodes_[row], scene.cursor);
  if (nodes_[row] == 0) return scene.theme.mark(capture::NodeState::kLive).color;
  return view.beam_rank >= 0 ? scene.theme.beam(view.beam_rank)
                             : scene.theme.mark(view.state).color;
}

std::vector<LegendEntry> ExpertGrid::legend(const Scene& scene) const {
  std::vector<LegendEntry> entries;
  for (std::size_t row = 0; row < nodes_.size(); ++row) {
    const auto state = nodes_[row] == 0 ? capture::NodeState::kLive
                                        : scene.capture->state_at(nodes_[row], scene.cursor);
    const Mark mark = scene.theme.mark(state);
    entries.push_back({.label = std::to_string(row + 1) + " " + node_text(scene, nodes_[row], 12),
                       .color = color_of(row, scene),
                       .glyph = mark.glyph,
                       .term = "row"});
  }
  return entries;
}

void ExpertGrid::draw_layer(Canvas& canvas, const Layer& layer, Rect line,
                            std::span<const Color> colors, const Scene& scene) const {
  const float cell = line.w / static_cast<float>(experts_);
  const float gap = cell > 8 ? 1 : 0;
  const float part = (cell - 2 * gap) / static_cast<float>(nodes_.size());
  const float edge = line.h > 6 ? 1 : 0;
  canvas.fill_rect({line.x, line.y + edge, line.w, line.h - edge},
                   scene.theme.grid.with_alpha(0.55f));
  for (std::size_t i = 0; i < layer.choices.size();) {
    std::size_t end = i;
    while (end < layer.choices.size() && layer.choices[end].expert == layer.choices[i].expert)
      ++end;
    const float x = line.x + static_cast<float>(layer.choices[i].expert) * cell;
    const Rect box{x + gap, line.y + edge, std::max(1.0f, cell - 2 * gap), line.h - edge};
    if (part < kNarrowExpertPx) {
      const float share = static_cast<float>(end - i) / static_cast<float>(nodes_.size());
      canvas.fill_rect(box, scene.theme.accent.with_alpha(0.3f + 0.7f * share));
    } else {
      canvas.fill_rect(box, scene.theme.raised);
      for (std::size_t k = i; k < end; ++k)
        canvas.fill_rect(
            {box.x + static_cast<float>(layer.choices[k].row) * part, box.y, part, box.h},
            colors[layer.choices[k].row]);
    }
    const bool focused =
        std::any_of(layer.choices.begin() + static_cast<std::ptrdiff_t>(i),
                    layer.choices.begin() + static_cast<std::ptrdiff_t>(end),
                    [&](const Choice& one) { return nodes_[one.row] == scene.focus.node(); });
    if (focused) canvas.stroke_rect(box, scene.theme.focus, 1.5f);
    i = end;
  }
  if (cell >= 6)
    for (std::int32_t column = 1; column < experts_; ++column)
      canvas.line({line.x + static_cast<float>(column) * cell, line.y + edge},
                  {line.x + static_cast<float>(column) * cell, line.bottom()},
                  scene.theme.background, 1);
}

void ExpertGrid::draw(Canvas& canvas, Rect area, const Scene& scene) {
  const float em = scene.em;
  const TextStyle small = dim_text(scene, 0.78f);
  const float label = std::min(em * kExpertLayerEm, area.w * 0.25f);
  const auto count = static_cast<float>(layers_.size());
  body_ = {area.x + label, area.y, std::max(1.0f, area.w - label),
           std::max(1.0f, area.h - em * kExpertNumbersEm)};
  body_.w = std::min(body_.w, static_cast<float>(experts_) * em * kExpertCellEm);
  body_.h = std::min(body_.h, count * em * kExpertTallEm);
  // The number of the first layer is higher than a low line.
  const float above = std::max(0.0f, em * 0.5f - body_.h / count / 2);
  body_.y += above;
  body_.h = std::max(1.0f, body_.h - above);
  const float tall = body_.h / count;
  canvas.push_clip({area.x, area.y, area.w, area.h});
  std::vector<Color> colors;  // by row
  for (std::size_t row = 0; row < nodes_.size(); ++row) colors.push_back(color_of(row, scene));
  float free_from = -1e9f;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Rect line{body_.x, body_.y + static_cast<float>(i) * tall, body_.w, tall};
    draw_layer(canvas, layers_[i], line, colors, scene);
    // Where lines are lower than letters, some are numbered.
    if (line.y + tall / 2 - em * 0.5f < free_from) continue;
    free_from = line.y + tall / 2 + em * 0.5f;
    const std::string text = (i == 0 ? "layer " : "") + std::to_string(layers_[i].layer);
    text_in(canvas, {area.x, line.y + tall / 2 - em * 0.5f, label - em * 0.5f, em}, text, small,
            Align::kRight);
  }
  const Rect axis{body_.x, body_.bottom() + em * 0.15f, body_.w, em};
  const std::string last = std::to_string(experts_ - 1);
  text_in(canvas, {area.x, axis.y, label - em * 0.5f, em}, "expert", small, Align::kRight);
  const float cell = body_.w / static_cast<float>(experts_);
  const float wide = canvas.measure(last, small).x + em * 0.6f;
  const auto every = static_cast<std::int32_t>(std::max(1.0f, std::ceil(wide / cell)));
  for (std::int32_t expert = 0; expert < experts_; expert += every)
    text_in(canvas,
            {body_.x + (static_cast<float>(expert) + 0.5f) * cell - wide / 2, axis.y, wide, em},
            std::to_string(expert), small, Align::kCenter);
  canvas.pop_clip();
}

std::vector<std::string> ExpertGrid::tooltip(const Layer& layer, std::int32_t expert,
                                             const Scene& scene) const {
  std::vector<std::string> lines = {"layer " + std::to_string(layer.layer) + ", expert " +
                                    std::to_string(expert)};
  std::size_t takers = 0;
  for (const Choice& one : layer.choices) {
    if (one.expert != expert) continue;
    constexpr std::size_t kMost = 6;
    if (++takers > kMost) continue;
    lines.push_back("row " + std::to_string(one.row + 1) + "  " +
                    node_text(scene, nodes_[one.row]) +
                    (std::isnan(one.weight) ? "" : "  weight " + number_text(one.weight)));
  }
  if (takers > 6) lines.push_back("and " + counted(takers - 6, "more row"));
  if (takers == 0) lines.emplace_back("no row of this step goes through it: it is not read");
  lines.push_back("this layer: " + counted(layer.different, "different expert") + " for " +
                  counted(nodes_.size(), "row"));
  return lines;
}

void ExpertGrid::input(const Input& in, const Scene& scene, Reaction& reaction) const {
  if (!in.inside || body_.w <= 0 || layers_.empty()) return;
  reaction.hover = -1;
  if (!body_.contains(in.mouse)) return;
  const auto at = static_cast<std::size_t>((in.mouse.y - body_.y) / body_.h *
                                           static_cast<float>(layers_.size()));
  const float column = (in.mouse.x - body_.x) / body_.w * static_cast<float>(experts_);
  const auto expert = std::min(static_cast<std::int32_t>(column), experts_ - 1);
  const Layer& layer = layers_[std::min(at, layers_.size() - 1)];
  reaction.tooltip = tooltip(layer, expert, scene);
  const auto row = static_cast<std::size_t>((column - static_cast<float>(expert)) *
                                            static_cast<float>(nodes_.size()));
  const bool is_taken = std::ranges::any_of(
      layer.choices, [&](const Choice& one) { return one.expert == expert && one.row == row; });
  if (is_taken) reaction.hover = nodes_[row];
  if (in.clicked) reaction.lock = *reaction.hover;
}

std::string expert_csv(const Scene& scene) {
  std::ostringstream out;
  out << "step,node,layer,expert,weight\n";
  if (!scene.capture || scene.shown_step() < 0) return out.str();
  for (const capture::ExpertRow& row : scene.capture->experts(scene.shown_step())) {
    if (row.tick >= scene.cursor) break;
    for (std::size_t i = 0; i < row.experts.size(); ++i) {
      out << scene.shown_step() << ',' << row.node << ',' << row.layer << ',' << row.experts[i]
          << ',';
      if (!row.weights.empty()) out << csv_number(static_cast<double>(row.weights[i]));
      out << '\n';
    }
  }
  return out.str();
}

}  // namespace triescope::viz
