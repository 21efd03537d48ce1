// Small pieces that all panels draw with, so that a mark looks the same everywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/capture/capture.h"
#include "viz/canvas/canvas.h"
#include "viz/scene.h"

namespace triescope::viz {

// The mark's glyph as a vector shape (fonts may lack it), centred, `size` px across.
void draw_glyph(Canvas& canvas, std::string_view glyph, Point center, float size, Color color);

// The mark ≠ where another run differs, `size` px across, legible upon anything.
void draw_difference(Canvas& canvas, Point center, float size, const Scene& scene);
// What the other run does there, with its glyph; "" = the same, or no other run.
std::string difference_text(const Scene& scene, std::int32_t node);

// `text` cut at its end to fit `width` px ("…"); "" if not even one character fits.
std::string fit_text(Canvas& canvas, std::string_view text, const TextStyle& style, float width);
// Draws it, vertically centred in `box`, left aligned (or centred, or right aligned).
enum class Align : std::uint8_t { kLeft, kCenter, kRight };
void text_in(Canvas& canvas, Rect box, std::string_view text, TextStyle style,
             Align align = Align::kLeft);
// Words broken into lines no wider than `width`.
std::vector<std::string> wrap_text(Canvas& canvas, std::string_view text, const TextStyle& style,
                                   float width);

struct LegendEntry {
  std::string label;
  Color color;
  std::string_view glyph;  // "" = a line sample
  LineStyle line = LineStyle::kSolid;
  bool off = false;  // switched off: dimmed
};
// One or more rows of entries from `top_left`, within `width`; returns the height used. `boxes`:
// where each entry came to stand, for panels whose entries are switches. Entries beyond `max_rows`
// are left out.
float draw_legend(Canvas& canvas, Point top_left, float width,
                  const std::vector<LegendEntry>& entries, const Scene& scene,
                  std::vector<Rect>* boxes = nullptr, int max_rows = 4);
// The height draw_legend() would use.
float legend_height(Canvas& canvas, float width, const std::vector<LegendEntry>& entries,
                    const Scene& scene);
// Rows a legend may take in a pane of this height: what is small is for the picture.
int legend_rows(Rect area, const Scene& scene);

// A small button of a panel's own, its top right corner at `top_right`; returns its area.
Rect draw_button(Canvas& canvas, Point top_right, std::string_view label, const Scene& scene);

// The panel's empty state: one sentence in the middle.
void draw_empty_state(Canvas& canvas, Rect area, std::string_view text, const Scene& scene);

TextStyle ui_text(const Scene& scene, float scale = 1);
TextStyle dim_text(const Scene& scene, float scale = 0.86f);
TextStyle bold_text(const Scene& scene, float scale = 1);
TextStyle mono_text(const Scene& scene, float scale = 1);

// "0.413", "1.2e-05", "–" for NaN; -1 as "–" too where `optional`.
std::string number_text(double value, int digits = 3);
std::string bytes_text(double bytes);          // "1.2 MB"
std::string duration_text(double us);          // "13.2 ms"
std::string probability_text(double p);        // "0.87", "<.01"
std::string csv_field(std::string_view text);  // RFC 4180
std::string csv_number(double value);  // shortest that reads back as the same float; NaN: ""

// The paths in force at the cursor, best first: once the run is over the returned sequences, before
// that the live frontier, and in a last step that has only finished, what finished.
struct Leaf {
  std::int32_t node = 0;
  std::int32_t rank = 0;
  float score = 0;          // NaN = none
  bool returned = false;    // one of the run's results
  std::string_view finish;  // "" = goes on
};
std::vector<Leaf> leaves_at(const capture::Capture& capture, capture::Tick cursor);

// The text of a node's token with visible spaces: "·the"; the root: "prompt".
std::string node_text(const Scene& scene, std::int32_t node, int max_chars = 24);
// "node 12 '·the', depth 3, position 40, slot 17".
std::string node_summary(const Scene& scene, std::int32_t node);
// Lines of a tooltip about a node, formulas included.
std::vector<std::string> node_tooltip(const Scene& scene, std::int32_t node);
std::int32_t node_position(const Scene& scene, std::int32_t node);

}  // namespace triescope::viz
