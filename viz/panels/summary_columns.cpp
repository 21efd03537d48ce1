#include "viz/panels/summary_columns.h"

#include <algorithm>
#include <cmath>

#include "viz/draw/drawing.h"
#include "viz/panels/gap_strip.h"
#include "viz/text/glossary.h"

namespace triescope::viz {
namespace {

constexpr float kEntryEm = 1.35f, kTitleEm = 1.7f, kGapEm = 0.5f, kEntryColumnEm = 21,
                kPadEm = 0.6f;
constexpr std::size_t kMostColumns = 4;

// A title or a line with its text in lines, and how high it is.
struct Entry {
  const SummarySection* section = nullptr;
  const SummaryLine* line = nullptr;  // nullptr: the section's title
  std::vector<std::string> value = {};
  float height = 0;
};

// Where a column's labels end and its values begin, from its left edge.
struct Widths {
  float label = 0, value = 0;
};

Widths widths_of(float column, const Scene& scene) {
  const float pad = scene.em * kPadEm, label = std::min(scene.em * 9.5f, column * 0.42f);
  return {label, std::max(scene.em * 3, column - label - 2 * pad)};
}

float bar_width(const Widths& widths) { return widths.value * 0.42f; }

std::vector<Entry> entries_of(Canvas& canvas, float column,
                              const std::vector<SummarySection>& sections, const Scene& scene) {
  const Widths widths = widths_of(column, scene);
  const TextStyle style = ui_text(scene, 0.88f);
  std::vector<Entry> entries;
  for (const SummarySection& section : sections) {
    entries.push_back({.section = &section, .height = scene.em * kTitleEm});
    for (const SummaryLine& line : section.lines) {
      const float room =
          widths.value - (std::isnan(line.share) ? 0 : bar_width(widths) + scene.em * 0.5f);
      Entry entry{.section = &section, .line = &line};
      entry.value = wrap_text(canvas, line.value, style, room);
      entry.height = scene.em * kEntryEm *
                     static_cast<float>(std::max<std::size_t>(1, entry.value.size()) +
                                        (line.gaps.empty() ? 0 : 1));
      entries.push_back(std::move(entry));
    }
    entries.back().height += scene.em * kGapEm;
  }
  return entries;
}

// The column of each entry if all columns are `height` high; empty = too little. A section stays
// whole where a column has room for it, and no title stands alone at the end of one.
std::vector<std::size_t> flow(const std::vector<Entry>& entries, std::size_t columns,
                              float height) {
  std::vector<std::size_t> column_of;
  std::size_t column = 0;
  float used = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    float need = entries[i].height;
    if (!entries[i].line) {
      float whole = need;
      for (std::size_t k = i + 1; k < entries.size() && entries[k].line; ++k)
        whole += entries[k].height;
      need = whole <= height || i + 1 == entries.size() ? whole : need + entries[i + 1].height;
    }
    if (used > 0 && used + need > height + 0.5f) {
      ++column;
      used = 0;
    }
    if (column >= columns || entries[i].height > height + 0.5f) return {};
    used += entries[i].height;
    column_of.push_back(column);
  }
  return column_of;
}

// The least height for this number of columns, in steps of half a line.
float least_height(const std::vector<Entry>& entries, std::size_t columns, float em) {
  float whole = 0;
  for (const Entry& entry : entries) whole += entry.height;
  float height = whole / static_cast<float>(columns);
  while (height < whole && flow(entries, columns, height).empty()) height += em * kEntryEm / 2;
  return std::min(height, whole);
}

}  // namespace

float SummaryColumns::height(Canvas& canvas, float width, std::size_t columns,
                             const std::vector<SummarySection>& sections, const Scene& scene) {
  return least_height(entries_of(canvas, width / static_cast<float>(columns), sections, scene),
                      columns, scene.em);
}

void SummaryColumns::clear() {
  shown_.clear();
  scroll_.clear();
}

void SummaryColumns::draw(Canvas& canvas, Rect area, const std::vector<SummarySection>& sections,
                          const Scene& scene) {
  clear();
  const float em = scene.em, pad = em * kPadEm;
  const auto most = static_cast<std::size_t>(std::clamp(std::floor(area.w / (em * kEntryColumnEm)),
                                                        1.0f, static_cast<float>(kMostColumns)));
  // As few columns as hold all of it.
  std::vector<Entry> entries;
  std::vector<std::size_t> column_of;
  float width = area.w;
  for (std::size_t columns = 1; columns <= most && column_of.empty(); ++columns) {
    width = area.w / static_cast<float>(columns);
    entries = entries_of(canvas, width, sections, scene);
    column_of = flow(entries, columns, area.h);
  }
  float overflow = 0;
  if (column_of.empty()) {
    const float height = least_height(entries, most, em);
    overflow = height - area.h;
    column_of = flow(entries, most, height);
    if (column_of.empty()) column_of.assign(entries.size(), 0);
  }
  scroll_.fit(overflow);
  const Widths widths = widths_of(width, scene);
  std::size_t column = 0;
  float y = area.y - scroll_.at();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (column_of[i] != column) {
      column = column_of[i];
      y = area.y - scroll_.at();
    }
    const float x = area.x + width * static_cast<float>(column) + pad;
    const float line = em * (entry.line ? kEntryEm : kTitleEm);
    // Half a line at an edge cannot be read, so whole ones alone are drawn.
    const auto is_in_sight = [&](float top) {
      return top >= area.y - 0.5f && top + line <= area.bottom() + 0.5f;
    };
    if (!entry.line) {
      const Rect box{x, y, width - 2 * pad, line};
      if (is_in_sight(y)) {
        text_in(canvas, box, entry.section->title, bold_text(scene, 0.92f));
        canvas.line({x, box.bottom() - em * 0.15f}, {box.right(), box.bottom() - em * 0.15f},
                    scene.theme.grid, 1);
        if (!entry.section->panel.empty())
          shown_.push_back({box, {"click: the panel that shows more"}, entry.section->panel});
      }
      y += entry.height;
      continue;
    }
    if (is_in_sight(y)) {
      const Rect name{x, y, widths.label - em * 0.5f, line};
      text_in(canvas, name, fit_text(canvas, entry.line->label, dim_text(scene, 0.88f), name.w),
              dim_text(scene, 0.88f));
      if (!meaning_of(entry.line->label).empty()) canvas.term(name, entry.line->label);
      std::vector<std::string> tooltip = {entry.line->label + ": " + entry.line->value};
      if (!entry.line->help.empty()) tooltip.push_back(entry.line->help);
      shown_.push_back({{x, y, width - 2 * pad, entry.height}, std::move(tooltip), ""});
    }
    float left = x + widths.label;
    if (!std::isnan(entry.line->share)) {
      const Rect bar{left, y + line * 0.24f, bar_width(widths), line * 0.52f};
      if (is_in_sight(y)) {
        canvas.fill_rect(bar, scene.theme.grid);
        canvas.fill_rect({bar.x, bar.y, bar.w * static_cast<float>(entry.line->share), bar.h},
                         scene.theme.accent.with_alpha(0.75f));
      }
      left += bar.w + em * 0.5f;
    }
    for (std::size_t k = 0; k < entry.value.size(); ++k) {
      const float top = y + line * static_cast<float>(k);
      if (is_in_sight(top))
        text_in(canvas, {left, top, x + width - 2 * pad - left, line}, entry.value[k],
                ui_text(scene, 0.88f));
    }
    if (const float top = y + line * static_cast<float>(entry.value.size()); is_in_sight(top))
      draw_gap_strip(canvas, {left, top, x + width - 2 * pad - left, line}, entry.line->gaps,
                     scene);
    y += entry.height;
  }
  scroll_.draw_corners(canvas, area, scene);
}

void SummaryColumns::input(const Input& in, const Scene& scene, Reaction& reaction) {
  if (scroll_.input(in, scene, reaction) || !in.inside) return;
  for (const Shown& one : shown_)
    if (one.box.contains(in.mouse)) {
      reaction.tooltip = one.tooltip;
      if (in.clicked) reaction.panel = one.panel;
    }
}

}  // namespace triescope::viz
