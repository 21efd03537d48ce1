#include "viz/draw/drawing.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "core/base/counted.h"

namespace triescope::viz {

std::string more_rows(std::size_t more, const Scene& scene, const std::string& of) {
  return "+ " + (of.empty() ? std::to_string(more) + " more" : counted(more, "more " + of)) +
         (scene.has_buttons() ? ": scroll" : "");
}

void draw_glyph(Canvas& canvas, std::string_view glyph, Point c, float size, Color color) {
  const float r = size / 2, w = std::max(1.2f, size * 0.16f);
  if (glyph == "✓") {
    const Point points[] = {{c.x - r * 0.8f, c.y + r * 0.05f},
                            {c.x - r * 0.2f, c.y + r * 0.65f},
                            {c.x + r * 0.85f, c.y - r * 0.65f}};
    canvas.polyline(points, color, w);
  } else if (glyph == "✕") {
    canvas.line({c.x - r * 0.7f, c.y - r * 0.7f}, {c.x + r * 0.7f, c.y + r * 0.7f}, color, w);
    canvas.line({c.x - r * 0.7f, c.y + r * 0.7f}, {c.x + r * 0.7f, c.y - r * 0.7f}, color, w);
  } else if (glyph == "★") {
    // Five triangles from the middle: each is convex.
    for (int i = 0; i < 5; ++i) {
      const float a = -1.5708f + static_cast<float>(i) * 1.25664f;
      const auto at = [&](float angle, float radius) {
        return Point{c.x + std::cos(angle) * radius, c.y + std::sin(angle) * radius};
      };
      const Point tip[] = {at(a - 0.62832f, r * 0.42f), at(a, r), at(a + 0.62832f, r * 0.42f), c};
      canvas.fill_polygon(tip, color);
    }
  } else if (glyph == "○") {
    canvas.stroke_circle(c, r * 0.75f, color, w);
  } else if (glyph == "◇") {
    const Point corners[] = {{c.x, c.y - r * 0.85f},
                             {c.x + r * 0.7f, c.y},
                             {c.x, c.y + r * 0.85f},
                             {c.x - r * 0.7f, c.y},
                             {c.x, c.y - r * 0.85f}};
    canvas.polyline(corners, color, w);
  } else if (glyph == "◆") {
    const Point corners[] = {{c.x, c.y - r * 0.9f},
                             {c.x + r * 0.75f, c.y},
                             {c.x, c.y + r * 0.9f},
                             {c.x - r * 0.75f, c.y}};
    canvas.fill_polygon(corners, color);
  } else if (glyph == "■") {
    canvas.fill_rect({c.x - r * 0.65f, c.y - r * 0.65f, r * 1.3f, r * 1.3f}, color);
  } else if (glyph == "□") {
    canvas.stroke_rect({c.x - r * 0.65f, c.y - r * 0.65f, r * 1.3f, r * 1.3f}, color, 1,
                       LineStyle::kSolid, r * 0.25f);
  } else if (glyph == "–") {
    canvas.line({c.x - r * 0.8f, c.y}, {c.x + r * 0.8f, c.y}, color, w, LineStyle::kSolid);
  } else if (glyph == "▼") {
    const Point corners[] = {{c.x - r * 0.75f, c.y - r * 0.65f},
                             {c.x + r * 0.75f, c.y - r * 0.65f},
                             {c.x, c.y + r * 0.75f}};
    canvas.fill_polygon(corners, color);
  } else if (glyph == "▲") {
    const Point corners[] = {{c.x - r * 0.85f, c.y + r * 0.7f},
                             {c.x + r * 0.85f, c.y + r * 0.7f},
                             {c.x, c.y - r * 0.8f}};
    canvas.fill_polygon(corners, color);
  } else if (glyph == "Δ" || glyph == "△") {
    const Point corners[] = {{c.x, c.y - r * 0.75f},
                             {c.x + r * 0.75f, c.y + r * 0.65f},
                             {c.x - r * 0.75f, c.y + r * 0.65f},
                             {c.x, c.y - r * 0.75f}};
    canvas.polyline(corners, color, w);
  } else if (glyph == "▽") {
    const Point corners[] = {{c.x, c.y + r * 0.75f},
                             {c.x + r * 0.75f, c.y - r * 0.65f},
                             {c.x - r * 0.75f, c.y - r * 0.65f},
                             {c.x, c.y + r * 0.75f}};
    canvas.polyline(corners, color, w);
  } else if (glyph == "●") {
    canvas.fill_circle(c, r * 0.75f, color);
  } else if (glyph == "#") {
    canvas.fill_rect({c.x - r * 0.9f, c.y - r * 0.55f, r * 1.8f, r * 1.1f}, color.with_alpha(0.3f),
                     r * 0.3f);
    canvas.stroke_rect({c.x - r * 0.9f, c.y - r * 0.55f, r * 1.8f, r * 1.1f}, color, 1.2f,
                       LineStyle::kSolid, r * 0.3f);
  } else if (glyph == "≠") {
    canvas.line({c.x - r * 0.85f, c.y - r * 0.3f}, {c.x + r * 0.85f, c.y - r * 0.3f}, color, w);
    canvas.line({c.x - r * 0.85f, c.y + r * 0.3f}, {c.x + r * 0.85f, c.y + r * 0.3f}, color, w);
    canvas.line({c.x - r * 0.5f, c.y + r * 0.9f}, {c.x + r * 0.5f, c.y - r * 0.9f}, color, w);
  } else if (glyph == "✦") {
    for (const bool upright : {true, false}) {
      const float along = r * 1.05f, across = r * 0.3f;
      const float x = upright ? across : along, y = upright ? along : across;
      const Point points[] = {{c.x, c.y - y}, {c.x + x, c.y}, {c.x, c.y + y}, {c.x - x, c.y}};
      canvas.fill_polygon(points, color);
    }
  } else if (glyph == "→") {
    canvas.line({c.x - r * 0.9f, c.y}, {c.x + r * 0.8f, c.y}, color, w);
    const Point head[] = {{c.x + r * 0.2f, c.y - r * 0.55f},
                          {c.x + r * 0.9f, c.y},
                          {c.x + r * 0.2f, c.y + r * 0.55f}};
    canvas.polyline(head, color, w);
  }
}

void draw_difference(Canvas& canvas, Point center, float size, const Scene& scene) {
  canvas.fill_circle(center, size * 0.72f, scene.theme.background);
  draw_glyph(canvas, "≠", center, size, scene.theme.difference);
}

void draw_fault(Canvas& canvas, Point center, float size, bool is_recorded, const Scene& scene) {
  canvas.fill_circle(center, size * 0.72f, scene.theme.background);
  draw_glyph(canvas, is_recorded ? "▲" : "△", center, size, scene.theme.fault);
}

void draw_lit(Canvas& canvas, Rect box, float size, const Scene& scene) {
  const float width = std::max(2.0f, size * 0.16f);
  canvas.stroke_rect(box.inset(-width), scene.theme.lit.with_alpha(0.8f), width, LineStyle::kSolid,
                     width * 2);
  const Point corner{box.x, box.y};
  canvas.fill_circle(corner, size * 0.62f, scene.theme.background);
  draw_glyph(canvas, "✦", corner, size, scene.theme.lit);
}

void draw_lit_row(Canvas& canvas, Rect row, const Scene& scene) {
  const float em = scene.em;
  canvas.fill_rect({row.x, row.y + 1, row.w, std::max(1.0f, row.h - 2)},
                   scene.theme.lit.with_alpha(0.14f), em * 0.15f);
  draw_glyph(canvas, "✦", {row.x - em * 0.3f, row.y + row.h / 2}, std::min(em * 0.55f, row.h),
             scene.theme.lit);
}

float draw_lit_key(Canvas& canvas, Point top_right, float room, const Scene& scene) {
  if (!scene.steady) return 0;
  const LegendEntry entry = lit_entry(scene);
  const float width =
      canvas.measure(entry.label, dim_text(scene)).x + scene.em * 1.3f;  // as in draw_legend()
  if (width > room) return 0;
  draw_legend(canvas, {top_right.x - width, top_right.y}, width, {entry}, scene, nullptr, 1);
  return width;
}

LegendEntry lit_entry(const Scene& scene) { return {"changed just now", scene.theme.lit, "✦"}; }

std::string fit_text(Canvas& canvas, std::string_view text, const TextStyle& style, float width) {
  if (canvas.measure(text, style).x <= width) return std::string(text);
  std::string cut(text);
  while (!cut.empty()) {
    while (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xC0) == 0x80) cut.pop_back();
    if (!cut.empty()) cut.pop_back();
    if (cut.empty()) break;
    std::string candidate = cut + "…";
    if (canvas.measure(candidate, style).x <= width) return candidate;
  }
  return "";
}

void text_in(Canvas& canvas, Rect box, std::string_view text, TextStyle style, Align align) {
  const std::string fitted = fit_text(canvas, text, style, box.w);
  if (fitted.empty()) return;
  const Point size = canvas.measure(fitted, style);
  const float x = align == Align::kLeft     ? box.x
                  : align == Align::kCenter ? box.x + (box.w - size.x) / 2
                                            : box.right() - size.x;
  canvas.text({x, box.y + (box.h - size.y) / 2}, fitted, style);
}

void text_over_lines(Canvas& canvas, Rect box, std::string_view text, const TextStyle& style,
                     const Scene& scene) {
  const float em = scene.em;
  canvas.fill_rect({box.x - em * 0.15f, box.y, box.w + em * 0.3f, box.h},
                   scene.theme.background.with_alpha(0.85f), em * 0.2f);
  text_in(canvas, box, text, style);
}

void draw_x_label(Canvas& canvas, float px, float top, float height, float left, float right,
                  std::string_view text, const TextStyle& style) {
  const Point size = canvas.measure(text, style);
  if (px - size.x / 2 < left || px + size.x / 2 > right) return;
  canvas.text({px - size.x / 2, top + (height - size.y) / 2}, text, style);
}

std::vector<std::string> wrap_text(Canvas& canvas, std::string_view text, const TextStyle& style,
                                   float width) {
  std::vector<std::string> lines;
  std::string line;
  const auto flush = [&] {
    lines.push_back(line);
    line.clear();
  };
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\n') {
      flush();
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && text[end] == ' ') ++end;
    while (end < text.size() && text[end] != ' ' && text[end] != '\n') ++end;
    const std::string word(text.substr(at, end - at));
    if (!line.empty() && canvas.measure(line + word, style).x > width) flush();
    line += line.empty() && word[0] == ' '
                ? word.substr(std::min(word.find_first_not_of(' '), word.size()))
                : word;
    at = end;
  }
  if (!line.empty() || lines.empty()) flush();
  return lines;
}

void draw_head(Canvas& canvas, Rect box, std::string_view title, const TextStyle& style,
               Align align) {
  text_in(canvas, box, title, style, align);
  if (!title.empty()) canvas.term(box, title);
}

std::string_view term_of(std::string_view label) {
  label = label.substr(0, label.find(':'));
  const auto end = label.find_last_not_of(" 0123456789");
  return end == std::string_view::npos ? label : label.substr(0, end + 1);
}

namespace {
// How entries of a legend stand, in px.
struct LegendLook {
  TextStyle text;
  float row, line, glyph;  // a row's height, the widths of samples
  float gap, apart;        // behind a sample, between entries
  int most_rows;
};
LegendLook legend_look(const Scene& scene) {
  const float em = scene.em;
  if (scene.legend == LegendRoom::kTwoRows)
    return {dim_text(scene, 0.74f), em * 1.15f, em * 1.2f, em * 0.8f, em * 0.25f, em * 0.6f, 2};
  return {dim_text(scene), em * 1.35f, em * 1.5f, em * 0.9f, em * 0.35f, em, INT_MAX};
}
float needed_width(Canvas& canvas, const LegendEntry& entry, const LegendLook& look) {
  return (entry.glyph.empty() ? look.line : look.glyph) + look.gap +
         canvas.measure(entry.label, look.text).x + look.apart;
}
}  // namespace

float draw_legend(Canvas& canvas, Point top_left, float width,
                  const std::vector<LegendEntry>& entries, const Scene& scene,
                  std::vector<Rect>* boxes, int max_rows) {
  const float em = scene.em;
  const LegendLook look = legend_look(scene);
  const float row = look.row;
  const TextStyle normal = look.text;
  max_rows = std::min(max_rows, look.most_rows);
  if (boxes) boxes->clear();
  if (max_rows <= 0) return 0;
  float x = top_left.x, y = top_left.y;
  // The number of hidden entries stands behind the last that fits, so the last row keeps room for
  // it.
  const auto rest_width = [&](std::size_t rest) {
    return rest == 0 ? 0 : canvas.measure("+ " + std::to_string(rest), normal).x + look.apart;
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const LegendEntry& entry = entries[i];
    TextStyle style = normal;
    Color color = entry.color;
    if (entry.off) {
      style.color = style.color.with_alpha(0.45f);
      color = color.with_alpha(0.3f);
    }
    const float sample = entry.glyph.empty() ? look.line : look.glyph;
    const float needed = needed_width(canvas, entry, look);
    const auto fits = [&](float more) {
      return x + needed - look.apart + more <= top_left.x + width;
    };
    bool all_fit = fits(0);  // of the last row: this entry and all behind it
    if (max_rows == 1 && all_fit && i + 1 < entries.size() &&
        !fits(rest_width(entries.size() - i - 1))) {
      const std::vector<LegendEntry> behind(entries.begin() + static_cast<std::ptrdiff_t>(i),
                                            entries.end());
      all_fit = legend_height(canvas, top_left.x + width - x, behind, scene) < row * 1.5f;
    }
    if (x > top_left.x && !all_fit) {
      if (--max_rows <= 0) {
        const std::string rest = "+ " + std::to_string(entries.size() - i);
        text_in(canvas, {x, y, std::max(0.0f, top_left.x + width - x), row}, rest, normal);
        break;
      }
      x = top_left.x;
      y += row;
    }
    if (entry.glyph.empty()) {
      canvas.line({x, y + row / 2}, {x + sample, y + row / 2}, color, 2, entry.line);
    } else {
      draw_glyph(canvas, entry.glyph, {x + sample / 2, y + row / 2}, em * 0.75f, color);
    }
    text_in(
        canvas,
        {x + sample + look.gap, y, std::max(0.0f, top_left.x + width - x - sample - look.gap), row},
        entry.label, style);
    if (boxes) boxes->push_back({x, y, needed - look.apart, row});
    canvas.term({x, y, needed - look.apart, row},
                entry.term.empty() ? term_of(entry.label) : entry.term);
    x += needed;
  }
  return entries.empty() ? 0 : y + row - top_left.y;
}

float legend_height(Canvas& canvas, float width, const std::vector<LegendEntry>& entries,
                    const Scene& scene) {
  const LegendLook look = legend_look(scene);
  float x = 0;
  int rows = entries.empty() ? 0 : 1;
  for (const LegendEntry& entry : entries) {
    const float needed = needed_width(canvas, entry, look);
    if (x > 0 && x + needed - look.apart > width) {
      x = 0;
      ++rows;
    }
    x += needed;
  }
  return static_cast<float>(std::min(rows, look.most_rows)) * look.row;
}

int legend_rows(Rect area, const Scene& scene) {
  if (scene.legend == LegendRoom::kNone) return 0;
  if (scene.legend == LegendRoom::kRow || area.h < scene.em * 14) return 1;
  return scene.legend == LegendRoom::kTwoRows ? 2 : 4;
}

Rect draw_button(Canvas& canvas, Point top_right, std::string_view label, const Scene& scene) {
  const float em = scene.em;
  const TextStyle style = dim_text(scene, 0.8f);
  const float width = canvas.measure(label, style).x + em * 0.9f;
  const Rect box{top_right.x - width, top_right.y, width, em * 1.3f};
  canvas.fill_rect(box, scene.theme.surface, em * 0.3f);
  canvas.stroke_rect(box, scene.theme.border, 1, LineStyle::kSolid, em * 0.3f);
  text_in(canvas, {box.x, box.y, box.w, box.h}, label, style, Align::kCenter);
  return box;
}

void draw_empty_state(Canvas& canvas, Rect area, std::string_view text, const Scene& scene) {
  const TextStyle style = dim_text(scene, 1);
  std::string words(text);
  // Pictures of a series are viewed without the window, to which these keys belong.
  if (scene.series)
    for (const std::string_view key : {" (F10)", " (F11)"})
      if (const auto at = words.find(key); at != std::string::npos) words.erase(at, key.size());
  const auto lines = wrap_text(canvas, words, style, std::max(scene.em * 4, area.w - scene.em * 3));
  float y = area.y + std::max(scene.em * 0.5f,
                              (area.h - static_cast<float>(lines.size()) * scene.em * 1.4f) / 2);
  for (const std::string& line : lines) {
    text_in(canvas, {area.x + scene.em, y, area.w - scene.em * 2, scene.em * 1.4f}, line, style,
            Align::kCenter);
    y += scene.em * 1.4f;
  }
}

TextStyle ui_text(const Scene& scene, float scale) {
  return {FontFace::kUi, scene.em * scale, scene.theme.text};
}
TextStyle dim_text(const Scene& scene, float scale) {
  return {FontFace::kUi, scene.em * scale, scene.theme.text_dim};
}
TextStyle bold_text(const Scene& scene, float scale) {
  return {FontFace::kUiBold, scene.em * scale, scene.theme.text};
}
TextStyle mono_text(const Scene& scene, float scale) {
  return {FontFace::kMono, scene.em * scale, scene.theme.text};
}

}  // namespace triescope::viz
