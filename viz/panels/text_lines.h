// Breaks the text so far into lines, path by path, which the text panel draws. Sizes in px, from
// the top left of the whole text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/capture/row_marks.h"
#include "viz/canvas/canvas.h"
#include "viz/draw/drawing.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

// A named path in force.
struct TextSequence {
  std::string label, finish;
  float score = 0;
  std::int32_t node = 0;
  int rank = 0;
};
// The paths in force, best first.
std::vector<TextSequence> sequences_of(const Scene& scene);

// The part of a token in the match that gave the drafts of the cursor's step (query/draft_match.h).
enum class FoundAs : std::uint8_t { kNone, kMatch, kBehind };

// A piece of a line in one style.
struct TextSpan {
  Rect box;
  std::string text;
  TextStyle style;
  std::int32_t node = -1;                            // -1 = it shows no token
  std::optional<Mark> mark = {};                     // the line under it
  bool lit = false;                                  // the token has just come
  capture::RowMark fault = capture::RowMark::kNone;  // its row is not as the tree asks
  FoundAs found = FoundAs::kNone;
  bool folds = false;  // a click on it folds or opens the part that all texts share
};
struct TextLines {
  std::vector<TextSpan> spans;  // from top to bottom
  std::vector<LegendEntry> legend;
  std::size_t sequences = 0;
  float height = 0, text_top = 0, legend_height = 0;  // text_top: below the prompt
  std::vector<float> tops;                            // y of each line, from top to bottom
};
constexpr float kTextLineEm = 1.45f;
// Fewer shared tokens are not worth a paragraph of their own.
constexpr std::size_t kLeastShared = 4;
// Measures every token, so call it once per cursor, not once per frame. `shared_once`: the
// beginning that all texts share stands above them once.
TextLines lay_out_text(Canvas& canvas, float width, const Scene& scene, bool shared_once = true);

// The scroll that begins with a whole line: the first one at or below `wanted` px.
float scroll_to_line(const TextLines& lines, float wanted);

void draw_span(Canvas& canvas, const TextSpan& span, Point top_left, const Scene& scene);

}  // namespace triescope::viz
