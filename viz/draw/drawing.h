// Small pieces with which all panels draw, so that a mark looks the same everywhere: glyphs, text
// in a box, legends, buttons, empty states. Sizes derive from Scene::em.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

// The mark's glyph as a vector shape (fonts may lack it), centred, `size` px across.
void draw_glyph(Canvas& canvas, std::string_view glyph, Point center, float size, Color color);

// Draws the mark ≠ where another run differs, `size` px across, legible on any ground.
void draw_difference(Canvas& canvas, Point center, float size, const Scene& scene);

// Marks what is recorded and not as the tree asks (▲), or asked for and not recorded (△), `size` px across,
// legible on any ground.
void draw_fault(Canvas& canvas, Point center, float size, bool is_recorded, const Scene& scene);

// Marks what changed just now (Scene::lights()): a halo around `box` and the mark ✦, `size` px
// across, on its top left corner.
void draw_lit(Canvas& canvas, Rect box, float size, const Scene& scene);

// The same for a row of a table: a tint behind it, and the mark before it.
void draw_lit_row(Canvas& canvas, Rect row, const Scene& scene);
// Explains the mark in panels without a legend: one line that ends at `top_right`. Returns its
// width; 0, and nothing drawn, if the scene is not steady or `room` px are too few.
float draw_lit_key(Canvas& canvas, Point top_right, float room, const Scene& scene);

// `text` cut at its end to fit `width` px ("…"); "" if not even one character fits.
std::string fit_text(Canvas& canvas, std::string_view text, const TextStyle& style, float width);
// Draws the text vertically centred in `box`, left aligned (or centred, or right aligned).
enum class Align : std::uint8_t { kLeft, kCenter, kRight };
void text_in(Canvas& canvas, Rect box, std::string_view text, TextStyle style,
             Align align = Align::kLeft);
// The same, left aligned, on a plate that covers the lines below the text.
void text_over_lines(Canvas& canvas, Rect box, std::string_view text, const TextStyle& style,
                     const Scene& scene);
// Draws a label of a horizontal axis with its middle at `px`, in a line `height` px high. Where its letters would
// leave [left, right] it is left out: pushed aside it would stand at another value.
void draw_x_label(Canvas& canvas, float px, float top, float height, float left, float right,
                  std::string_view text, const TextStyle& style);
// Draws the head of a column; the glossary explains it while the mouse is over it.
void draw_head(Canvas& canvas, Rect box, std::string_view title, const TextStyle& style,
               Align align = Align::kLeft);
// Breaks words into lines no wider than `width`.
std::vector<std::string> wrap_text(Canvas& canvas, std::string_view text, const TextStyle& style,
                                   float width);

// The last line of a list that is cut: "+ 3 more: scroll"; a picture cannot be scrolled. `of` names
// the items: "level".
std::string more_rows(std::size_t more, const Scene& scene, const std::string& of = "");

struct LegendEntry {
  std::string label;
  Color color;
  std::string_view glyph;  // "" = a line sample
  LineStyle line = LineStyle::kSolid;
  bool off = false;  // switched off: dimmed
  // The glossary's name for it; "" = term_of(label).
  std::string_view term = {};
};
// The legend entry of what draw_lit() marks.
LegendEntry lit_entry(const Scene& scene);
// A label without its figures and its explanation: "live 27" -> "live", "beam: rank" -> "beam".
std::string_view term_of(std::string_view label);
// Draws one or more rows of entries from `top_left`, within `width`; returns the height used.
// `boxes`: where each entry was drawn, for panels whose entries are switches. Entries beyond
// `max_rows` are left out and counted: "+ 3".
float draw_legend(Canvas& canvas, Point top_left, float width,
                  const std::vector<LegendEntry>& entries, const Scene& scene,
                  std::vector<Rect>* boxes = nullptr, int max_rows = 4);
// The height that draw_legend() would use.
float legend_height(Canvas& canvas, float width, const std::vector<LegendEntry>& entries,
                    const Scene& scene);
// Number of rows that a legend may take in a pane of this height: small panes belong to the
// picture. 0 = none.
int legend_rows(Rect area, const Scene& scene);

// Draws a small button with its top right corner at `top_right`; returns its area.
Rect draw_button(Canvas& canvas, Point top_right, std::string_view label, const Scene& scene);

// Draws the panel's empty state: one sentence in the middle.
void draw_empty_state(Canvas& canvas, Rect area, std::string_view text, const Scene& scene);

TextStyle ui_text(const Scene& scene, float scale = 1);
TextStyle dim_text(const Scene& scene, float scale = 0.86f);
TextStyle bold_text(const Scene& scene, float scale = 1);
TextStyle mono_text(const Scene& scene, float scale = 1);

}  // namespace triescope::viz
